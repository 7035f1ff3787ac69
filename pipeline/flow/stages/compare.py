"""Compare: the model compares the statement and the script's description, for similarity and for difference."""

from __future__ import annotations

from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage, Step
from pipeline.flow.ports import DraftMade
from pipeline.flow.prompts import Templates, fence
from pipeline.flow.reading.readers import OpinionReading, read_opinion
from pipeline.types import Question, ReadingOutcome, Role, StageName

_SENTENCE: dict[str, object] = {"type": "string", "description": "one sentence"}
_VERDICT: dict[str, object] = {"type": "string", "enum": ["match", "mismatch"]}

SIMILARITY = AskedStage(
    name=StageName.SIMILARITY,
    label=_("Assess similarity"),
    outcomes={"match": _("similar"), "mismatch": _("not similar")},
    role=Role.ASSESSOR,
    # Small models judge better after they have written the reason, but after a list of differences they pass nothing.
    answer={"reason": _SENTENCE, "verdict": _VERDICT},
    read=read_opinion,
    judges=True,
)
DIFFERENCE = AskedStage(
    name=StageName.DIFFERENCE,
    label=_("Assess differences"),
    outcomes={"match": _("no differences"), "mismatch": _("differences")},
    role=Role.ASSESSOR,
    answer={
        "verdict": _VERDICT,
        "differences": {"type": "array", "items": _SENTENCE},
        "reason": _SENTENCE,
    },
    read=read_opinion,
    judges=True,
)


def question(
    stage: AskedStage[OpinionReading],
    statement: str,
    functionality: str,
    *,
    round: int,
    templates: Templates,
) -> Question:
    """Return the question about the similarity or difference between the statement and the description."""
    return stage.question(
        templates,
        round=round,
        STATEMENT=fence(statement, "STATEMENT"),
        FUNCTIONALITY=fence(functionality, "FUNCTIONALITY"),
    )


def compare(
    passage: Passage, functionality: str, draft: DraftMade, *, round: int
) -> tuple[OpinionReading, OpinionReading]:
    """Return the assessor's opinions on similarity and difference."""
    flow_input = passage.flow_input
    with (
        passage.stage(SIMILARITY, round=round) as first,
        passage.stage(DIFFERENCE, round=round) as second,
    ):
        similarity, difference = passage.ask_all(
            [
                (
                    stage,
                    question(
                        stage,
                        flow_input.statement,
                        functionality,
                        round=round,
                        templates=flow_input.templates,
                    ),
                )
                for stage in (SIMILARITY, DIFFERENCE)
            ]
        )
        end(first, similarity, draft)
        end(second, difference, draft)
    return similarity, difference


def end(step: Step, reading: OpinionReading, draft: DraftMade | None) -> None:
    """End a comparison and record its reading."""
    is_read = reading.outcome is ReadingOutcome.READ
    step.end(
        reading.opinion if is_read else reading.outcome,
        found="\n".join(reading.differences) or reading.reason,
        draft=draft,
        ok=is_read,
    )
