"""Store the catalogue's answer for a Run, so that a resumed Run gets the same answer."""

from __future__ import annotations

from catalog.types import Answer, Match, Neighbour, Retrieval
from pipeline.models import RetrievedMatch, Run


def rows_of(run: Run, found: Retrieval) -> list[RetrievedMatch]:
    """Return unsaved rows for the matches and then the neighbors, by rank."""
    rows = [_row_of_match(match, found) for match in found.matches]
    rows += [_row_of_neighbour(neighbour, found) for neighbour in found.neighbours]
    for rank, row in enumerate(rows):
        row.run, row.rank = run, rank
    return rows


def retrieval_of(run: Run) -> Retrieval:
    """Return the stored answer of the catalogue, in one query."""
    rows = list(run.matches.select_related("version__entry"))
    matches = tuple(_match_of(row) for row in rows if row.answer != Answer.NONE)
    return Retrieval(
        statement=run.action.statement,
        answer=matches[0].answer if matches else Answer.NONE,
        matches=matches,
        threshold=0.0,
        scoring=rows[0].scoring if rows else "",
        neighbours=tuple(
            Neighbour(row.version_id, row.phrasing, row.version.script, row.cosine)
            for row in rows
            if row.answer == Answer.NONE
        ),
    )


def _row_of_match(match: Match, found: Retrieval) -> RetrievedMatch:
    return RetrievedMatch(
        version_id=match.version_id,
        phrasing=match.phrasing,
        answer=match.answer.value,
        confidence=match.confidence,
        cosine=match.cosine,
        scoring=found.scoring,
        reasons=list(match.reasons),
        differs=list(match.differs),
        fills=dict(match.fills),
        confirmable=match.is_confirmable,
    )


def _row_of_neighbour(neighbour: Neighbour, found: Retrieval) -> RetrievedMatch:
    return RetrievedMatch(
        version_id=neighbour.version_id,
        phrasing=neighbour.phrasing,
        answer=Answer.NONE.value,
        confidence=0.0,
        cosine=neighbour.cosine,
        scoring=found.scoring,
    )


def _match_of(row: RetrievedMatch) -> Match:
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
        is_confirmable=row.confirmable,
    )
