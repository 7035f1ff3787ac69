"""Tests that weak sandbox tests catch few mutations, and that the text claims no more than was tested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog.execution.cases import (
    CaseResult,
    CaseSet,
    CheckResult,
    Execution,
    State,
    read_case_set,
    run_case_set,
)
from catalog.execution.quality import Quality, describe, measure_quality, repeat, report
from catalog.execution.sandbox import Availability, Ended, Limits, Observation, PreparedRun, Sandbox
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.execution.scripted import on_machine, run_seen, world_seen
from tests.first_cases import first_cases

LIMITS = Limits(seconds=30)
RIGHT = "find /var/log/app -type f -name '*.log' -mtime +7 -delete"

OLD = {"path": "/var/log/app/old.log", "age": "30d"}
NEW = {"path": "/var/log/app/new.log", "age": "1d"}
REMOVES_OLD = {"check": "removed", "exactly": [OLD["path"]]}

WEAK = case_data({"check": "exit_status", "equals": 0}, world={"files": [OLD, NEW]})
BORDER = case_data(
    {"check": "removed", "exactly": ["/var/log/app/eight.log"]},
    title="the border",
    kind="border",
    world={
        "files": [
            {"path": "/var/log/app/eight.log", "age": "193h", "accessed": "1h"},
            {"path": "/var/log/app/seven.log", "age": "180h", "accessed": "30d"},
            {"path": "/var/log/app/nine.LOG", "age": "30d"},
            {"path": "/var/log/app/nine.txt", "age": "30d"},
            {"path": "/var/log/app/folder.log", "kind": "folder", "age": "30d"},
            {"path": "/root/here.log", "age": "30d"},
        ]
    },
)


def measure(
    availability: Availability, script: str, cases: CaseSet, most_mutants: int = 8
) -> tuple[Execution, Quality]:
    execution = run_case_set(cases, script, availability, LIMITS)
    stable = repeat(cases, script, execution, availability.sandbox, LIMITS)
    quality = measure_quality(cases, script, stable, availability.sandbox, LIMITS, most_mutants)
    assert quality is not None
    return stable, quality


def test_cases_that_would_keep_the_sandbox_for_too_long_are_not_measured(
    sandbox: Sandbox, availability: Availability, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MOST_SECONDS", 0.0)
    cases = make_set(WEAK)
    execution = run_case_set(cases, RIGHT, availability, LIMITS)
    assert measure_quality(cases, RIGHT, execution, sandbox, LIMITS) is None
    assert describe(execution, None) == "1 of 1 check passed in 1 scenario."


@pytest.mark.slow
def test_status_case_catches_few_mutations(sandbox: Sandbox, availability: Availability) -> None:
    execution, quality = measure(availability, RIGHT, make_set(WEAK))
    assert quality.pass_without_work == ("old logs go",)
    assert quality.noticed < quality.mutants / 2
    assert describe(execution, quality).startswith(
        "1 of 1 check passed in 1 scenario; the tests catch"
    )


@pytest.mark.slow
def test_edge_cases_catch_most_mutations(sandbox: Sandbox, availability: Availability) -> None:
    _, quality = measure(availability, RIGHT, make_set(BORDER), most_mutants=12)
    assert quality.pass_without_work == ()
    # A pattern without a leading slash also matches the whole path, so no sandbox test can catch this mutation.
    assert quality.survivors == ("`-name` becomes `-path` on line 1",)
    assert (quality.never_failing, quality.not_about_the_world) == ((), ())


@pytest.mark.slow
def test_checks_without_effect_are_named(sandbox: Sandbox, availability: Availability) -> None:
    cases = make_set(
        case_data(REMOVES_OLD, {"check": "added", "exactly": []}, world={"files": [OLD]})
    )
    _, quality = measure(availability, RIGHT, cases, most_mutants=0)
    assert quality.never_failing == ("old logs go: adds no files",)
    assert quality.not_about_the_world == ("old logs go: adds no files",)
    guard = case_data({"check": "no_effect"}, kind="empty", world={"files": [NEW]})
    _, quality = measure(availability, RIGHT, make_set(guard), most_mutants=0)
    assert (quality.guards, quality.pass_without_work) == (("old logs go",), ())


@pytest.mark.slow
@pytest.mark.parametrize(
    "script, said",
    [
        pytest.param(RIGHT, [], id="right"),
        pytest.param("for f in $(find /var/log/app -name '*.log' -mtime +7); do rm -rf $f; done",
         ["a file with a space in its name is kept: `/var/log/app/old with space.log` (but `/var/log/app/old.log`",
         "a file with a line break in its name is kept: `/var/log/app/old\\nline.log` (but `/var/log/app/old.log`",
         "a link is also removed: `/var/log/app/old-link.log`",
         "a folder is also removed: `/var/log/app/old-folder.log`"], id="split at blanks"),
        pytest.param(RIGHT.replace("'", ""),
         ["next to a file in the working folder, `/var/log/app/old.log` is kept instead of removed"],
         id="an unquoted pattern"),
    ],
)  # fmt: skip
def test_decoys_show_how_robust_a_script_is(
    sandbox: Sandbox, availability: Availability, script: str, said: list[str]
) -> None:
    cases = make_set(case_data(REMOVES_OLD, world={"files": [OLD, NEW]}))
    execution, quality = measure(availability, script, cases, most_mutants=0)
    assert execution.cases[0].state is State.PASSED
    found = [sentence for sentence in quality.robustness if "dash" not in sentence]
    assert len(found) == len(said)
    assert all(sentence.startswith(words) for sentence, words in zip(found, said, strict=True))


@pytest.mark.slow
def test_failing_call_shows_script_stops(sandbox: Sandbox, availability: Availability) -> None:
    cases = make_set(case_data(world={"commands": {"systemctl": [], "nginx": [{"args": ["-t"]}]}}))
    naive = "nginx -t; systemctl restart nginx"
    _, quality = measure(availability, naive, cases, most_mutants=0)
    assert [str(failing) for failing in quality.failing_calls] == [
        "if `nginx -t` fails, the script still calls `systemctl restart nginx` and exits 0",
        "if `systemctl restart nginx` fails, the script makes no more calls and exits 1",
    ]
    assert quality.not_tried == ("real systemd",)
    _, quality = measure(availability, f"set -e; {naive}", cases, most_mutants=0)
    assert str(quality.failing_calls[0]) == (
        "if `nginx -t` fails, the script makes no more calls and exits 1"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "script, prints, under",
    first_cases(1, [
        ("pwd", "/root", "in another folder"),
        ("echo ${LC_ALL:-none}", "none", "in another language"),
        ("date +%Z", "UTC", "in another time zone"),
    ]),
)  # fmt: skip
def test_a_verdict_that_depends_on_what_nobody_named_is_unstable(
    sandbox: Sandbox, availability: Availability, script: str, prints: str, under: str
) -> None:
    cases = make_set(
        case_data({"check": "stdout_lines", "exactly": [prints]}, {"check": "stderr_empty"})
    )
    execution = run_case_set(cases, script, availability, LIMITS)
    check, other = repeat(cases, script, execution, sandbox, LIMITS).cases[0].checks
    assert (check.state, check.got) == (State.UNSTABLE, f"different result {under}")
    assert other.state is State.PASSED


@pytest.mark.slow
def test_case_folder_and_time_zone_are_kept(sandbox: Sandbox, availability: Availability) -> None:
    cases = make_set(
        case_data(
            {"check": "stdout_lines", "exactly": ["/srv/app", "JST"]},
            world={"cwd": "/srv/app", "environment": {"TZ": "Asia/Tokyo"}},
        )
    )
    execution, _ = measure(availability, "pwd; date +%Z", cases, most_mutants=0)
    assert execution.cases[0].state is State.PASSED


def execution_of(*states: State) -> Execution:
    """Return a result with one sandbox test for each state. Each test has one check."""
    cases = tuple(CaseResult("x", (CheckResult("x", state),)) for state in states)
    return Execution("s", "c", None, cases, 0.0)


NOTHING = Quality(
    mutants=0, survivors=(), without_verdict=(), pass_without_work=(), guards=(), never_failing=(),
    not_about_the_world=(), failing_calls=(), robustness=(), not_tried=(),
)  # fmt: skip
PASSED, FAILED = State.PASSED, State.FAILED


TRIED = [
    ([PASSED] * 7 + [FAILED], replace(NOTHING, mutants=12, survivors=("a", "b"), not_tried=("network",)),
     "7 of 8 checks passed in 8 scenarios; the tests catch 10 of 12 mutations;" " not covered: network."),
    ([PASSED], None, "1 of 1 check passed in 1 scenario."),
    ([PASSED], NOTHING, "1 of 1 check passed in 1 scenario; no mutations to try."),
    ([PASSED, State.UNSUPPORTED, State.TIMED_OUT, State.UNSTABLE], None,
     "1 of 1 check passed in 1 scenario; 1 unstable; 1 unsupported; 1 timed out."),
    ([State.NOT_RUN] * 3, None, "All checks were inconclusive: not run."),
]  # fmt: skip


def test_description_says_how_much_was_tried() -> None:
    said = [describe(execution_of(*states), quality) for states, quality, _words in TRIED]
    assert said == [words for _states, _quality, words in TRIED]
    cases = make_set(WEAK)
    nowhere = Availability(sandbox=None, reason="none.")
    execution = run_case_set(cases, RIGHT, nowhere)
    assert describe(execution) == "All checks were inconclusive: not run."


@pytest.mark.parametrize(
    "world, is_varied",
    [({}, True), ({"cwd": "/root"}, False), ({"cwd": "/srv"}, False), ({"hostname": "db-1"}, True)],
)
def test_a_folder_that_the_case_names_is_meant(world: dict[str, str], is_varied: bool) -> None:
    folders: list[str] = []

    def answer(prepared: PreparedRun) -> Observation:
        folders.append(prepared.cwd)
        return world_seen(run_seen())

    found = on_machine(answer)
    cases = make_set(case_data(world=world))
    repeat(cases, ":", run_case_set(cases, ":", found), found.sandbox)
    assert ("/srv" in folders[1:]) is (is_varied or world.get("cwd") == "/srv")
    # An earlier release stored every field, so a stored default must not be treated as set by the author.
    if "cwd" not in world:
        folders.clear()
        whole = read_case_set(cases.model_dump_json(by_alias=True), is_kept=True)
        repeat(whole, ":", run_case_set(whole, ":", found), found.sandbox)
        assert "/srv" in folders


def test_a_limit_that_ended_one_of_two_runs_is_not_unstable() -> None:
    ended = iter([run_seen(), run_seen(ended=Ended.TIMED_OUT, status=None)])
    found = on_machine(lambda prepared: world_seen(next(ended)))
    cases = make_set(case_data())
    execution = run_case_set(cases, ":", found)
    assert repeat(cases, ":", execution, found.sandbox).count(State.PASSED) == 1
