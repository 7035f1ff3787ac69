"""Describe: the model sees only the script and describes what it does."""

from __future__ import annotations

from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import DraftMade
from pipeline.flow.prompts import Templates, fence
from pipeline.flow.reading.readers import TextReading, read_text
from pipeline.types import Question, ReadingOutcome, Reply, Role, StageName


def _read(reply: Reply) -> TextReading:
    return read_text(reply, "functionality")


STAGE = AskedStage(
    name=StageName.DESCRIBE,
    label=_("Describe"),
    outcomes={"read": _("described")},
    role=Role.ASSESSOR,
    answer={"functionality": {"type": "string", "description": "two to five sentences"}},
    read=_read,
    judges=True,
)


def question(script: str, *, round: int, templates: Templates) -> Question:
    """Return the question about what a script does."""
    return STAGE.question(templates, round=round, SCRIPT=fence(script, "SCRIPT"))


def describe(passage: Passage, draft: DraftMade, *, round: int) -> TextReading:
    """Return a description of the Draft's script."""
    with passage.stage(STAGE, round=round) as step:
        described = passage.ask(
            STAGE, question(draft.script, round=round, templates=passage.flow_input.templates)
        )
        step.end(
            described.outcome,
            found=described.text,
            draft=draft,
            ok=described.outcome is ReadingOutcome.READ,
        )
    return described
