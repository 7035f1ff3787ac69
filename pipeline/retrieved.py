"""What the catalogue answered to a Run, as rows and back: a Run taken up again sees what it saw before."""

from __future__ import annotations

from catalog.types import Answer, Match, Retrieval
from pipeline.models import RetrievedMatch, Run


def row_of(run: Run, found: Retrieval, rank: int) -> RetrievedMatch:
    """The match of this rank, not yet saved."""
    match = found.matches[rank]
    return RetrievedMatch(
        run=run,
        rank=rank,
        version_id=match.version_id,
        phrasing=match.phrasing,
        answer=match.answer.value,
        confidence=match.confidence,
        cosine=match.cosine,
        scoring=found.scoring,
        reasons=list(match.reasons),
        differs=list(match.differs),
        fills=dict(match.fills),
    )


def match_of(row: RetrievedMatch) -> Match:
    """What the catalogue had said; the row comes with its version and entry."""
    return Match(
        entry=row.version.entry.slug,
        version=row.version.number,
        version_id=row.version_id,
        phrasing=row.phrasing,
        title=row.version.entry.title,
        script=row.version.script,
        answer=Answer(row.answer),
        confidence=row.confidence,
        cosine=row.cosine,
        reasons=tuple(row.reasons),
        differs=tuple(row.differs),
        fills=dict(row.fills),
    )
