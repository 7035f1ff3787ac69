"""Tests for what each stage sees and what is held out in the flow with sandbox tests, over scripted ports."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from catalog.execution.cases import CaseSet, State
from pipeline.flow.case_words import held_back
from pipeline.flow.ports import CheckSeen, DraftMade, Executed, FlowInput, Result
from pipeline.flow.run_flow import Flow
from pipeline.standin.prompt_contract import parse_prompt
from pipeline.types import CaseAnswer, CasesUse, DraftKind, Problem, Question, Reply, StageName
from tests.pipeline.flow.test_flow import (
    DESCRIBED,
    ERROR,
    FIND,
    LIST,
    OTHER,
    SAME,
    ScriptedPorts,
    script,
)

STATEMENT = "list the files in /var/log"
BETTER = "#!/usr/bin/env bash\nfind /var/log -type f -print\n"


def case(title: str, **changes: object) -> dict[str, object]:
    return {
        "title": title,
        "about": "the files in /var/log",
        "kind": "usual",
        "world": {"files": [{"path": f"/var/log/{title}", "content": "x"}], "environment": {"Name": "v"}},
        "expect": [{"check": "stdout_contains", "text": title}, {"check": "exit_status", "equals": 0}],
        **changes,
    }  # fmt: skip


THREE = [case("one"), case("two"), case("three")]


def written(*cases: object) -> dict[str, object]:
    return {"cases": json.dumps(cases or THREE), "note": ""}


def answered(**answers: object) -> dict[str, object]:
    said = []
    for name, one in answers.items():
        what = one if isinstance(one, dict) else {"answer": one}
        said.append({"check": name[1:].replace("_", "."), "why": "because"} | what)
    return {"answers": json.dumps(said)}


class ScriptedSandbox:
    """A sandbox in which LIST fails the given checks. A check is identified by case title and check number."""

    def __init__(self, *failing: tuple[str, int], reason: str = "") -> None:
        self.reason = reason
        self.failing: dict[str, set[tuple[str, int]]] = {LIST: set(failing)}
        self.kept: list[tuple[int, StageName, CaseSet, Sequence[CaseAnswer]]] = []
        self.order: list[str] = []
        self.withdrawn: list[tuple[CaseSet, Sequence[CaseAnswer]]] = []
        self.machines: list[str] = []

    def keep_cases(self, case_set: CaseSet, *, number: int, stage: StageName,
                   replaces: CaseSet | None = None, answers: Sequence[CaseAnswer] = ()) -> None:  # fmt: skip
        self.kept.append((number, stage, case_set, answers))

    def withdraw_cases(self, case_set: CaseSet, *, number: int, stage: StageName,
                       answers: Sequence[CaseAnswer] = ()) -> None:  # fmt: skip
        self.withdrawn.append((case_set, answers))

    def start_cases(self, case_set: CaseSet, draft: DraftMade) -> None:
        self.order.append("start")

    def end_cases(self, case_set: CaseSet, draft: DraftMade, *, round: int) -> Executed:
        self.order.append("end")
        if self.reason:
            return Executed(case_set=case_set, reason=self.reason)
        failing = self.failing.get(draft.script, set())
        return Executed(
            case_set=case_set,
            fingerprint=self.machines.pop(0) if self.machines else "",
            checks=tuple(
                CheckSeen(at, number, check.sentence(), State.FAILED, "it printed `HAPPENED`")
                if (one.title, number) in failing
                else CheckSeen(at, number, check.sentence(), State.PASSED)
                for at, one in enumerate(case_set.cases, 1)
                for number, check in enumerate(one.expect, 1)
            ),
        )


def carry_out(ports: ScriptedPorts, sandbox: ScriptedSandbox, use: CasesUse = CasesUse.RUN) -> Result:  # fmt: skip
    flow_input = FlowInput(
        STATEMENT, rounds=1, uses_retrieval=False, uses_examples=False, cases=use
    )
    return Flow(flow_input, ports, sandbox).carry_out()


def passed(**answers: list[object]) -> ScriptedPorts:
    """Return ports with a script that passes the assessment."""
    return ScriptedPorts(**({"generate": [script(LIST)], "cases": [written()], "describe": [DESCRIBED],
        "similarity": [SAME], "difference": [SAME]} | answers))  # fmt: skip


def stage_names(ports: ScriptedPorts) -> list[str]:
    return [name for name, _round, _outcome in ports.stages]


def test_cases_are_written_without_the_script_and_run_while_the_assessor_works() -> None:
    ports, sandbox = passed(), ScriptedSandbox()
    asked_between: list[int] = []
    start, end = sandbox.start_cases, sandbox.end_cases
    sandbox.start_cases = lambda *a: (asked_between.append(len(ports.asked)), start(*a))[1]  # type: ignore[method-assign]
    sandbox.end_cases = lambda *a, **k: (asked_between.append(len(ports.asked)), end(*a, **k))[1]  # type: ignore[method-assign]
    carry_out(ports, sandbox)
    question = next(one for one in ports.asked if one.stage is StageName.CASES)
    assert LIST not in question.user and "ls -la" not in question.user + question.system
    assert STATEMENT in question.user
    assert asked_between[1] - asked_between[0] == 3, (
        "describe, similarity and difference go on meanwhile"
    )
    assert ("execute", 0, "holds") in ports.stages
    ((number, stage, kept, _answers),) = sandbox.kept
    assert (number, stage, len(kept.cases)) == (0, StageName.CASES, 3)
    assert kept.cases[0].world.environment == {"Name": "v"}, "names keep their capitals"


def test_without_the_switch_nothing_of_it_is_asked() -> None:
    ports = passed()
    carry_out(ports, ScriptedSandbox(), CasesUse.OFF)
    assert not {"cases", "execute", "mend_cases", "refine_cases"} & set(stage_names(ports))


def test_cases_are_read_in_every_mode(subtests: pytest.Subtests) -> None:
    cases = {
        "tool, a list": Reply("", tool_input={"cases": THREE, "note": ""}),
        "tool, text": Reply("", tool_input={"cases": json.dumps(THREE)}),
        "fenced object": Reply("Here:\n```json\n" + json.dumps({"cases": THREE}) + "\n```\n"),
        "fenced list": Reply("```json\n" + json.dumps(THREE, indent=1) + "\n```"),
        "fence in text": Reply(json.dumps({"cases": "```json\n" + json.dumps(THREE) + "\n```"})),
        "after thinking": Reply("<think>cases: {}</think>" + json.dumps(written())),
        "one is no case": Reply(json.dumps({"cases": [*THREE, {"title": "odd"}]})),
    }
    for name, reply in cases.items():
        with subtests.test(name):
            sandbox = ScriptedSandbox()
            carry_out(passed(cases=[reply]), sandbox)
            assert [one.title for one in sandbox.kept[0][2].cases] == ["one", "two", "three"]


def test_without_cases_the_run_goes_on(subtests: pytest.Subtests) -> None:
    cases = {
        "it can't": ([{"cases": "[]", "note": "I can't."}], "none"),
        "prose": ([Reply("I would rather not say."), Reply("No.")], "unparsed"),
        "about other words": ([written(case("x", about="of something else")), written({"title": "y"})],
            "unparsed"),
        "refusal": ([Reply("", stop_reason="refusal", refusal="x")], "refused"),
    }  # fmt: skip
    for name, (replies, outcome) in cases.items():
        with subtests.test(name):
            ports, sandbox = passed(cases=replies), ScriptedSandbox()
            result = carry_out(ports, sandbox, CasesUse.FEEDBACK)
            assert result.recommended.script == LIST
            assert ("cases", 0, outcome) in ports.stages
            assert not sandbox.kept and not sandbox.order


def test_an_unusable_reply_is_asked_again_with_what_was_wrong() -> None:
    ports, sandbox = passed(cases=[written(case("x", kind="odd")), written()]), ScriptedSandbox()
    carry_out(ports, sandbox)
    first, second = (one for one in ports.asked if one.stage is StageName.CASES)
    assert (first.sample, second.sample) == (0, 1)
    assert "kind" in second.missing
    assert len(sandbox.kept) == 1


def test_where_nothing_can_be_run_it_says_why_and_nothing_follows() -> None:
    ports, sandbox = passed(), ScriptedSandbox(reason="Execution is switched off.")
    carry_out(ports, sandbox, CasesUse.FEEDBACK)
    assert ("execute", 0, "not_run") in ports.stages
    assert "mend_cases" not in stage_names(ports) and "refine_cases" not in stage_names(ports)


def test_a_red_check_goes_back_to_its_author_with_what_happened_and_not_the_script() -> None:
    ports, sandbox = passed(mend_cases=[answered(c1_1="keep")]), ScriptedSandbox(("one", 1))
    carry_out(ports, sandbox)
    question = next(one for one in ports.asked if one.stage is StageName.MEND_CASES)
    assert "HAPPENED" in question.user and "/var/log/one" in question.user
    assert "ls -la" not in question.user + question.system
    assert ("mend_cases", 1, "kept") in ports.stages
    number, _stage, kept, answers = sandbox.kept[-1]
    assert (number, kept) == (1, sandbox.kept[0][2])
    assert answers == [CaseAnswer("1.1", "keep", "because")]


def test_a_mended_case_is_a_new_set_and_is_run_again() -> None:
    other = case("renamed", expect=[{"check": "exit_status", "equals": 0}])
    ports = passed(mend_cases=[answered(c2_1={"answer": "mend", "case": other})])
    sandbox = ScriptedSandbox(("two", 1))
    sandbox.start_cases = _let_pass_after_first(sandbox)  # type: ignore[method-assign]
    carry_out(ports, sandbox)
    kept = sandbox.kept[-1][2]
    assert kept.sha256 != sandbox.kept[0][2].sha256
    assert kept.cases[1].title == "two" and len(kept.cases[1].expect) == 1
    assert ("mend_cases", 1, "mended") in ports.stages
    assert sandbox.order.count("end") == 2


def _let_pass_after_first(sandbox: ScriptedSandbox):  # type: ignore[no-untyped-def]
    def start(case_set: CaseSet, draft: DraftMade) -> None:
        if sandbox.order:
            sandbox.failing.clear()
        sandbox.order.append("start")

    return start


def test_where_the_statement_is_open_the_check_is_taken_out() -> None:
    ports, sandbox = passed(mend_cases=[answered(c1_1="open")]), ScriptedSandbox(("one", 1))
    sandbox.start_cases = _let_pass_after_first(sandbox)  # type: ignore[method-assign]
    carry_out(ports, sandbox)
    sentences = [check.sentence() for check in sandbox.kept[-1][2].cases[0].expect]
    assert sentences == ["exits 0"]


def test_where_all_of_it_is_open_no_case_is_left_and_nothing_is_run_again() -> None:
    only = case("one", expect=[{"check": "exit_status", "equals": 3}])
    ports = passed(cases=[written(only)], mend_cases=[answered(c1_1="open")])
    sandbox = ScriptedSandbox(("one", 1))
    carry_out(ports, sandbox, CasesUse.FEEDBACK)
    assert ("mend_cases", 1, "none_left") in ports.stages
    assert len(sandbox.kept) == 1 and sandbox.order.count("end") == 1
    ((withdrawn, answers),) = sandbox.withdrawn
    assert withdrawn == sandbox.kept[0][2] and answers[0].answer == "open"


def test_its_author_looks_again_at_most_twice() -> None:
    def mended(number: int) -> dict[str, object]:
        text = f"other {number}"
        instead = case("one", expect=[{"check": "stdout_contains", "text": text}])
        return answered(c1_1={"answer": "mend", "case": instead})

    ports, sandbox = passed(mend_cases=[mended(1), mended(2)]), ScriptedSandbox(("one", 1))
    carry_out(ports, sandbox)
    rounds = [round for name, round, _outcome in ports.stages if name == "mend_cases"]
    assert rounds == [1, 2]


def held_titles() -> tuple[str, str]:
    """Return the titles of a case that is held out from the refinement and of a case that is not."""
    sandbox = ScriptedSandbox()
    carry_out(passed(), sandbox)
    case_set = sandbox.kept[0][2]
    hidden = held_back(case_set)
    assert len(hidden) == 1
    titles = [one.title for one in case_set.cases]
    (secret,) = (titles[number - 1] for number in hidden)
    return secret, next(title for title in titles if title != secret)


UNREADABLE = [Reply("Hm."), Reply("Hm.")]


def feedback_ports(told: str, *, first: object = UNREADABLE, then: object = UNREADABLE) -> ScriptedPorts:  # fmt: skip
    """Return ports for a refinement that uses sandbox tests. By default, no reply of the assessor is readable."""
    number = ["one", "two", "three"].index(told) + 1
    keep = answered(**{f"c{number}_1": "keep"})
    said = [one for what in (first, then) for one in (what if isinstance(what, list) else [what])]
    return passed(
        mend_cases=[keep], refine_cases=[script(BETTER)],
        describe=[DESCRIBED, DESCRIBED], similarity=[SAME, SAME], difference=said,
    )  # fmt: skip


def test_what_does_not_hold_is_told_to_one_refinement_and_a_part_is_held_back() -> None:
    secret, told = held_titles()
    ports, sandbox = feedback_ports(told), ScriptedSandbox((told, 1), (secret, 1))
    result = carry_out(ports, sandbox, CasesUse.FEEDBACK)
    question = next(one for one in ports.asked if one.stage is StageName.REFINE_CASES)
    lines = parse_prompt("", question.user).first("CHECKS").splitlines()
    assert [line.partition(":")[0].split(" ")[-1] for line in lines] == [
        "World",
        "Expected",
        "Happened",
    ]
    assert told in lines[0] and f"/var/log/{secret}" not in question.user
    assert [draft.script for draft in ports.drafts] == [LIST, BETTER]
    revised = ports.drafts[1]
    assert revised.kind is DraftKind.REVISED and revised.feedback is None
    assert ("recommend", 2, "offered") in ports.stages
    assert result.recommended.script == LIST, "what reviewers decide on hangs on no cases"
    assert len(result.assessments) == 1, "it enters no figure of refinement"


def test_only_what_is_held_back_fails_then_nothing_is_told() -> None:
    secret, _told = held_titles()
    ports, sandbox = feedback_ports(secret), ScriptedSandbox((secret, 1))
    carry_out(ports, sandbox, CasesUse.FEEDBACK)
    assert "refine_cases" not in stage_names(ports)


def test_a_script_that_loses_anything_is_not_offered(subtests: pytest.Subtests) -> None:
    cases = ("held back", "told", "verdict", "nothing gained")
    for lost in cases:
        with subtests.test(lost):
            secret, told = held_titles()
            ports, sandbox = feedback_ports(told, then=SAME), ScriptedSandbox((told, 1))
            sandbox.failing[BETTER] = {
                "held back": {(secret, 2)},
                "told": {(told, 2)},
                "verdict": set[tuple[str, int]](),
                "nothing gained": {(told, 1)},
            }[lost]
            if lost == "verdict":
                ports.answers["difference"][-1] = OTHER
            result = carry_out(ports, sandbox, CasesUse.FEEDBACK)
            assert result.recommended.script == LIST
            assert ("recommend", 2, "before") in ports.stages


def test_a_red_check_alone_does_not_make_another_script_the_better_one(
    subtests: pytest.Subtests,
) -> None:
    cases = {
        "what was passed is not bent to a case": (SAME, SAME, "both", "before"),
        "what it was told of is no proof": (UNREADABLE, UNREADABLE, "told", "before"),
        "held back checks gain, too": (UNREADABLE, UNREADABLE, "both", "offered"),
        "its own assessment is better": (UNREADABLE, SAME, "told", "offered"),
    }
    for name, (first, then, gains, outcome) in cases.items():
        with subtests.test(name):
            secret, told = held_titles()
            ports, sandbox = (
                feedback_ports(told, first=first, then=then),
                ScriptedSandbox((told, 1), (secret, 1)),
            )
            sandbox.failing[BETTER] = {(secret, 1)} if gains == "told" else set()
            assert carry_out(ports, sandbox, CasesUse.FEEDBACK).recommended.script == LIST
            assert ("recommend", 2, outcome) in ports.stages


def test_what_two_kinds_of_machine_say_is_not_compared() -> None:
    _secret, told = held_titles()
    ports, sandbox = feedback_ports(told, then=SAME), ScriptedSandbox((told, 1))
    sandbox.machines = ["one", "other"]
    carry_out(ports, sandbox, CasesUse.FEEDBACK)
    assert ("recommend", 2, "before") in ports.stages


@pytest.mark.parametrize("stage", ["cases", "mend_cases", "refine_cases"])
def test_a_stage_of_cases_that_no_model_answers_ends_and_the_run_goes_on(stage: str) -> None:
    _secret, told = held_titles()
    ports, sandbox = feedback_ports(told), ScriptedSandbox((told, 1))
    complete, said = ports.complete, []

    def refuse(asked: Sequence[Question]) -> list[Reply]:
        if asked[0].stage.value == stage:
            raise Problem("Ghost: model not found (HTTP 404)")
        return complete(asked)

    end = ports.end
    ports.complete = refuse  # type: ignore[method-assign]
    ports.end = lambda name, **told: (said.append((name.value, told)), end(name, **told))[1]  # type: ignore[method-assign]
    assert carry_out(ports, sandbox, CasesUse.FEEDBACK).recommended.script == LIST
    ended = next(told for name, told in said if name == stage)
    assert (ended["outcome"], ended["ok"]) == ("none", False)
    assert ended["found"] == "Skipped: Ghost: model not found (HTTP 404)"


def test_written_and_run_only_no_refinement_is_told_anything() -> None:
    _secret, told = held_titles()
    ports, sandbox = feedback_ports(told), ScriptedSandbox((told, 1))
    carry_out(ports, sandbox, CasesUse.RUN)
    assert "refine_cases" not in stage_names(ports)


def test_a_refined_script_is_run_in_the_same_cases() -> None:
    ports = passed(
        describe=[DESCRIBED, DESCRIBED], similarity=[SAME, SAME], difference=[OTHER, SAME],
        explain=[ERROR], refine=[script(FIND)],
    )  # fmt: skip
    sandbox = ScriptedSandbox()
    result = carry_out(ports, sandbox)
    assert result.recommended.script == FIND
    assert [one for one in ports.stages if one[0] == "execute"] == [
        ("execute", 0, "holds"),
        ("execute", 1, "holds"),
    ]
    assert len(sandbox.kept) == 1


def test_what_a_model_writes_into_its_cases_moves_nothing_on_the_page() -> None:
    ports = passed(cases=[written(case("red\x1b[31m\u202etitle", world={}))])
    said: list[str] = []
    ports.end = lambda stage, **told: said.append(str(told.get("found", "")))  # type: ignore[method-assign]
    carry_out(ports, ScriptedSandbox())
    assert any("red\\x1b[31m\\u202etitle" in one for one in said)
    assert not any("\x1b" in one or "\u202e" in one for one in said)
