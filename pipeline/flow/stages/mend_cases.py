"""Recheck cases: the author revises failed checks from their results, without seeing the script.

For each check, the author keeps it, fixes its case, or declares the statement open. Open checks are removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from catalog.execution.cases import CaseSet, State
from catalog.execution.cases.display import show
from core.translation import gettext_noop as _
from pipeline.flow.case_words import say_executed, tell_checks
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import CheckSeen, DraftMade, Executed
from pipeline.flow.prompts import fence, fence_context
from pipeline.flow.reading.case_reader import AnswersReading, make_case_set, read_answers
from pipeline.types import CaseAnswer, ReadingOutcome, Role, StageName

MOST_ROUNDS = 2

STAGE: AskedStage[AnswersReading] = AskedStage(
    name=StageName.MEND_CASES,
    label=_("Recheck failed tests"),
    outcomes={
        "kept": _("kept"),
        "mended": _("fixed"),
        "none_left": _("no tests left"),
        "none": _("no reply"),
    },
    role=Role.CASE_AUTHOR,
    answer={"answers": {"type": "string"}},
    read=read_answers,
    added_later=True,
    optional=True,
)


def mend_cases(passage: Passage, executed: Executed, draft: DraftMade) -> Executed | None:
    """Return the Draft's results for the revised cases, or None if no case is left."""
    settled: set[tuple[str, str]] = set()
    for number in range(1, MOST_ROUNDS + 1):
        red = [
            check
            for check in executed.of(State.FAILED)
            if _key(executed.case_set, check) not in settled
        ]
        if not red:
            break
        again = _look_again(passage, executed, red, draft, number=number)
        if again is None:
            return None
        if again is executed:
            break
        settled |= {_key(executed.case_set, check) for check in red}
        executed = again
    return executed


def apply_answers(
    case_set: CaseSet, answers: Sequence[CaseAnswer], mended: Mapping[int, object]
) -> CaseSet | None:
    """Apply the author's answers: fix cases and remove open checks. Return None if no case is left."""
    open_checks = {one.check for one in answers if one.answer == "open"}
    items: list[object] = []
    for number, case in enumerate(case_set.cases, 1):
        data = case.model_dump(mode="json", by_alias=True, exclude_none=True)
        data["expect"] = [
            check
            for place, check in enumerate(data["expect"], 1)
            if f"{number}.{place}" not in open_checks
        ]
        instead = mended.get(number)
        if isinstance(instead, dict):
            # Keep the title, because it determines whether the case is held out.
            title = {"title": case.title}
            usable, _refused = make_case_set(
                [instead | title], statement=case_set.statement, author=case_set.author.name
            )
            items.append(instead | title if usable is not None else data)
        elif data["expect"]:
            items.append(data)
    made, _refused = make_case_set(items, statement=case_set.statement, author=case_set.author.name)
    return made


def _look_again(
    passage: Passage,
    executed: Executed,
    red: Sequence[CheckSeen],
    draft: DraftMade,
    *,
    number: int,
) -> Executed | None:
    """Run one round and return the new results, the same results if no case changed, or None if no case is left."""
    flow_input, case_set = passage.flow_input, executed.case_set
    with passage.stage(STAGE, round=number) as step:
        question = STAGE.question(
            flow_input.templates,
            round=number,
            STATEMENT=fence(flow_input.statement, "STATEMENT"),
            CONTEXT=fence_context(flow_input.context),
            CASES=fence(_write(case_set), "CASES"),
            CHECKS=fence(tell_checks(case_set, red), "CHECKS"),
        )
        reading = passage.ask_or_end(step, STAGE, question)
        if reading is None:
            return executed
        if reading.outcome is not ReadingOutcome.READ:
            step.end(reading.outcome, found=show(reading.note), draft=draft, ok=False)
            return executed
        names = {check.name for check in red}
        answers = [one for one in reading.answers if one.check in names]
        numbers = {int(one.check.partition(".")[0]) for one in answers if one.answer == "mend"}
        mended = {at: case for at, case in reading.mended if at in numbers}
        said = (
            "\n".join(_say(one) for one in answers)
            or "The model's reply mentions none of the checks."
        )
        made = apply_answers(case_set, answers, mended)
        if made is None:
            passage.sandbox.withdraw_cases(
                case_set, number=number, stage=STAGE.name, answers=answers
            )
            step.end("none_left", found=said, draft=draft)
            return None
        passage.sandbox.keep_cases(
            made, number=number, stage=STAGE.name, replaces=case_set, answers=answers
        )
        if made.sha256 == case_set.sha256:
            step.end("kept", found=said, draft=draft)
            return executed
        passage.sandbox.start_cases(made, draft)
        again = passage.sandbox.end_cases(made, draft, round=draft.round)
        step.end("mended", found=f"{said}\n{say_executed(again)}", draft=draft)
    return again


def _key(case_set: CaseSet, check: CheckSeen) -> tuple[str, str]:
    """Return the key that identifies a check across rounds, so that the author is asked about it only once."""
    return case_set.cases[check.case - 1].title, check.sentence


def _write(case_set: CaseSet) -> str:
    data = case_set.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
    return json.dumps(data["cases"], ensure_ascii=False, indent=1)


def _say(answer: CaseAnswer) -> str:
    words = {"keep": "kept", "mend": "fixed", "open": "removed because the request is ambiguous"}
    return f"Check {answer.check} {words[answer.answer]}{': ' + show(answer.why) if answer.why else ''}"
