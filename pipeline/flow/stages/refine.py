"""Refine: the model rewrites a script from its own or an expert's feedback."""

from __future__ import annotations

from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import DraftMade, FeedbackGiven
from pipeline.flow.prompts import fence, fence_context
from pipeline.flow.reading.script_reader import read_script
from pipeline.flow.script_notes import say_no_script, say_size
from pipeline.types import DraftKind, ReadingOutcome, Role, StageName

STAGE = AskedStage(
    name=StageName.REFINE,
    label=_("Refine"),
    outcomes={
        "rewritten": _("rewritten"),
        "unchanged": _("unchanged"),
        "seen_before": _("same as an earlier draft"),
    },
    makes=DraftKind.REFINED,
    role=Role.REFINER,
    answer={"script": {"type": "string"}},
    read=read_script,
)


def refine(
    passage: Passage, draft: DraftMade, feedback: FeedbackGiven, *, round: int
) -> DraftMade | None:
    """Return a Draft refined from feedback, or None if the script is missing, unchanged or a repeat."""
    flow_input = passage.flow_input
    with passage.stage(STAGE, round=round) as step:
        question = STAGE.question(
            flow_input.templates,
            round=round,
            STATEMENT=fence(flow_input.statement, "STATEMENT"),
            CONTEXT=fence_context(flow_input.context),
            SCRIPT=fence(draft.script, "SCRIPT"),
            FEEDBACK=fence(feedback.text, "FEEDBACK"),
        )
        reading = passage.ask(STAGE, question)
        if reading.outcome is not ReadingOutcome.READ:
            step.end(reading.outcome, found=say_no_script(reading), ok=False)
            return None
        if reading.script in passage.seen:
            same = "unchanged" if reading.script == draft.script else "seen_before"
            step.end(same, found="The feedback led to no new script.")
            return None
        refined = DraftMade(
            kind=DraftKind.REFINED,
            script=reading.script,
            round=round,
            arm=feedback.arm,
            parent=draft,
            feedback=feedback,
            note=reading.note,
        )
        passage.keep_draft(refined)
        step.end("rewritten", found=say_size(refined.script, reading.note), draft=refined)
    return refined
