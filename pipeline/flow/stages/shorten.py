"""Shorten: the model shortens an expert's feedback, outside the flow."""

from __future__ import annotations

from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.prompts import fence
from pipeline.flow.reading.readers import PointsReading, read_points
from pipeline.types import Role, StageName

STAGE = AskedStage(
    name=StageName.SHORTEN,
    label=_("Shorten"),
    outcomes={},
    role=Role.REFINER,
    answer={
        "points": {
            "type": "array",
            "items": {"type": "string", "description": "one sentence each, at most three"},
        }
    },
    read=read_points,
    added_later=True,
)


def shorten(passage: Passage, script: str, feedback: str, *, number: int) -> PointsReading:
    """Return the feedback shortened to at most three points. `number` distinguishes the run's questions."""
    flow_input = passage.flow_input
    question = STAGE.question(
        flow_input.templates,
        round=number,
        STATEMENT=fence(flow_input.statement, "STATEMENT"),
        SCRIPT=fence(script, "SCRIPT"),
        FEEDBACK=fence(feedback, "FEEDBACK"),
    )
    return passage.ask(STAGE, question)
