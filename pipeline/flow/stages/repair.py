"""Repair: a script with errors is returned to the model once, with the checkers' messages."""

from __future__ import annotations

from catalog.analysis import Report, has_errors
from core.translation import gettext_noop as _
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import DraftMade
from pipeline.flow.prompts import fence
from pipeline.flow.reading.script_reader import read_script
from pipeline.flow.static_checks import describe_errors, summarise
from pipeline.types import DraftKind, ReadingOutcome, Role, StageName

STAGE = AskedStage(
    name=StageName.REPAIR,
    label=_("Repair"),
    outcomes={
        "repaired": _("repaired"),
        "error": _("errors"),
        "unchanged": _("unchanged"),
    },
    makes=DraftKind.REPAIRED,
    role=Role.GENERATOR,
    answer={"script": {"type": "string"}},
    read=read_script,
)


def repair(passage: Passage, draft: DraftMade, report: Report) -> DraftMade:
    """Return the repaired Draft, or the given Draft if the model returned no new script."""
    flow_input = passage.flow_input
    with passage.stage(STAGE) as step:
        question = STAGE.question(
            flow_input.templates,
            STATEMENT=fence(flow_input.statement, "STATEMENT"),
            SCRIPT=fence(draft.script, "SCRIPT"),
            CHECKER=fence(describe_errors(report), "CHECKER"),
        )
        reading = passage.ask(STAGE, question)
        is_read = reading.outcome is ReadingOutcome.READ
        if not is_read or reading.script in passage.seen:
            outcome = "unchanged" if is_read else reading.outcome
            step.end(outcome, found="The script was not changed.", ok=False)
            return draft
        repaired = DraftMade(
            kind=DraftKind.REPAIRED, script=reading.script, parent=draft, note=reading.note
        )
        passage.keep_draft(repaired)
        after = passage.ports.check(repaired.script)
        bad = has_errors(after)
        step.end("error" if bad else "repaired", found=summarise(after), draft=repaired, ok=not bad)
    return repaired
