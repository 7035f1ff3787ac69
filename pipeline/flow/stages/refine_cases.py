"""Refine from cases: the model rewrites a script from failed checks. Some cases are held out.

Reports measure this refinement separately from refinement by feedback, so the Draft has its own kind.
"""

from __future__ import annotations

from catalog.execution.cases import State
from core.translation import gettext_noop as _
from pipeline.flow.case_words import held_back, tell_checks
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import Assessed, DraftMade, Executed
from pipeline.flow.prompts import fence, fence_context
from pipeline.flow.reading.script_reader import ScriptReading, read_script
from pipeline.flow.script_notes import say_no_script, say_size
from pipeline.types import DraftKind, ReadingOutcome, Role, StageName, Verdict

STAGE: AskedStage[ScriptReading] = AskedStage(
    name=StageName.REFINE_CASES,
    label=_("Refine from tests"),
    outcomes={
        "rewritten": _("rewritten"),
        "unchanged": _("unchanged"),
        "seen_before": _("same as an earlier draft"),
        "none": _("no reply"),
    },
    makes=DraftKind.REVISED,
    role=Role.REFINER,
    answer={"script": {"type": "string"}},
    read=read_script,
    added_later=True,
    optional=True,
)
_RANK = {Verdict.INCORRECT: 0, Verdict.UNKNOWN: 1, Verdict.CORRECT: 2}


def refine_cases(
    passage: Passage, draft: DraftMade, executed: Executed, *, round: int
) -> DraftMade | None:
    """Return a Draft refined from the visible failed checks, or None without such checks or a new script."""
    hidden = held_back(executed.case_set)
    told = [check for check in executed.of(State.FAILED) if check.case not in hidden]
    if not (told and hidden):
        return None
    flow_input, words = passage.flow_input, tell_checks(executed.case_set, told)
    with passage.stage(STAGE, round=round) as step:
        question = STAGE.question(
            flow_input.templates,
            round=round,
            STATEMENT=fence(flow_input.statement, "STATEMENT"),
            CONTEXT=fence_context(flow_input.context),
            SCRIPT=fence(draft.script, "SCRIPT"),
            CHECKS=fence(words, "CHECKS"),
        )
        reading = passage.ask_or_end(step, STAGE, question)
        if reading is None:
            return None
        if reading.outcome is not ReadingOutcome.READ:
            step.end(reading.outcome, found=say_no_script(reading), ok=False)
            return None
        if reading.script in passage.seen:
            same = "unchanged" if reading.script == draft.script else "seen_before"
            step.end(same, found=f"The model received:\n{words}\nThis led to no new script.")
            return None
        revised = DraftMade(
            kind=DraftKind.REVISED,
            script=reading.script,
            round=round,
            parent=draft,
            note=reading.note,
        )
        passage.keep_draft(revised)
        size = say_size(revised.script, reading.note)
        step.end("rewritten", found=f"{size}. The model received:\n{words}", draft=revised)
    return revised


def is_better(new: Assessed, then: Executed, old: Assessed, before: Executed) -> bool:
    """Return whether the rewritten script is better. The criteria are strict, because the cases may be wrong too.

    More checks must pass, no passing check may fail, and the verdict must be better. An equal verdict is enough if it
    is not *correct* and more of the held-out checks also pass. A script with the verdict *correct* is never replaced to
    satisfy a failed check.
    """
    if then.reason or then.fingerprint != before.fingerprint:
        return False
    if old.verdict is Verdict.CORRECT or _RANK[new.verdict] < _RANK[old.verdict]:
        return False
    held = {check.place for check in before.of(State.PASSED)}
    holds = {check.place for check in then.of(State.PASSED)}
    if not held < holds:
        return False
    hidden = held_back(before.case_set)
    return _RANK[new.verdict] > _RANK[old.verdict] or any(
        case in hidden for case, _number in holds - held
    )


def say_generalises(then: Executed, before: Executed) -> str:
    """Describe how the results of the visible and the held-out checks changed."""
    if then.reason:
        return "The scripts could not be compared because the tests did not run."
    if then.fingerprint != before.fingerprint:
        return "The tests ran on different kinds of machines, so the results can't be compared."
    hidden = held_back(before.case_set)
    parts = []
    for words, is_hidden in (
        ("that the model may have seen", False),
        ("held out from the model", True),
    ):
        places = {one.place for one in before.checks if (one.case in hidden) is is_hidden}
        was = sum(one.place in places for one in before.of(State.PASSED))
        now = sum(one.place in places for one in then.of(State.PASSED))
        parts.append(f"Of {len(places)} checks {words}, {was} passed before and {now} pass now.")
    return " ".join(parts)
