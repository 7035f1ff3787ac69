"""Tests for running sandbox tests on scripts that are correct, wrong, or impossible to judge."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from catalog.execution.cases import CaseSet, State, run_case, run_case_set, runner
from catalog.execution.cases.results import worst
from catalog.execution.sandbox import (
    Availability,
    Ended,
    Limits,
    Observation,
    RunObservation,
    Sandbox,
    SandboxFailed,
)
from tests.catalog.execution.cases.writing import case_data, make_case, make_set

RIGHT = (
    "find /var/log/app -type f -name '*.log' -mtime +7 -delete\n"
    "nginx -t && systemctl restart nginx\n"
)


@pytest.fixture
def case_set() -> CaseSet:
    return make_set(
        case_data(
            {"check": "removed", "exactly": ["/var/log/app/eight.log"]},
            {
                "check": "called_before",
                "call": {"command": "nginx", "args": ["-t"]},
                "then": {"command": "systemctl", "args": ["restart", "nginx"]},
            },
            {"check": "second_run_no_effect"},
            world={
                "files": [
                    {"path": "/var/log/app/eight.log", "age": "193h"},
                    {"path": "/var/log/app/seven.log", "age": "180h"},
                ],
                "commands": {"systemctl": [], "nginx": [{"args": ["-t"]}]},
                "states": {"nginx": "active"},
            },
        )
    )


JUDGED = {
    RIGHT: "passed passed passed",
    RIGHT.replace("+7", "+6"): "failed passed passed",  # a day too early
    RIGHT.replace("nginx -t && ", ""): "passed failed passed",
    "systemctl kill nginx": "unsupported unsupported unsupported",
    "zypper refresh": "unsupported unsupported unsupported",
    "no-such-tool": "failed failed passed",
}


def test_a_script_is_judged(
    sandbox: Sandbox, availability: Availability, case_set: CaseSet, subtests: pytest.Subtests
) -> None:
    for script, states in JUDGED.items():
        with subtests.test(script):
            found = run_case_set(case_set, script, availability, Limits(seconds=60))
            assert " ".join(check.state for check in found.cases[0].checks) == states
            assert found.fingerprint == availability.fingerprint
            assert found.count(State.PASSED) == states.count("passed")


@pytest.mark.slow
def test_script_without_an_end_times_out(
    sandbox: Sandbox, availability: Availability, case_set: CaseSet
) -> None:
    found = run_case_set(case_set, "sleep 90", availability, Limits(seconds=2))
    assert [check.state for check in found.cases[0].checks] == [State.TIMED_OUT] * 3


def test_service_rules_know_its_state(sandbox: Sandbox, availability: Availability) -> None:
    cases = make_set(
        case_data(
            {"check": "stdout_lines", "exactly": ["inactive", "active"]},
            world={"commands": {"systemctl": []}, "states": {"app": "inactive"}},
        )
    )
    script = "systemctl is-active app; systemctl restart app; systemctl is-active app"
    assert run_case_set(cases, script, availability).cases[0].state is State.PASSED


def test_date_in_case_is_script_s_date(sandbox: Sandbox, availability: Availability) -> None:
    cases = make_set(case_data({"check": "added", "exactly": ["/srv/backup-{date:%F}.tar"]}))
    found = run_case_set(cases, "touch /srv/backup-$(date +%F).tar", availability)
    assert found.cases[0].state is State.PASSED
    assert f"{datetime.now(UTC):%Y-%m}" in found.cases[0].checks[0].sentence


def test_without_a_sandbox_nothing_is_run_and_every_check_says_why(case_set: CaseSet) -> None:
    nowhere = Availability(sandbox=None, reason="no namespaces.", remedy="Allow them.")
    found = run_case_set(case_set, RIGHT, nowhere)
    assert {check.state for check in found.cases[0].checks} == {State.NOT_RUN}
    assert found.cases[0].checks[0].got == "no namespaces. Allow them."
    assert found.cases[0].checks[0].sentence == "removes exactly `/var/log/app/eight.log`"
    assert found.fingerprint is None


def test_a_sandbox_that_fails_is_not_the_script_s_failure(case_set: CaseSet) -> None:
    class Broken:
        name = "broken"

        def run(self, prepared: object) -> None:
            raise SandboxFailed("the helper was killed")

    found = run_case_set(case_set, RIGHT, Availability(sandbox=Broken()))
    assert found.cases[0].state is State.NOT_RUN
    assert found.cases[0].checks[0].got == "the helper was killed"


def test_a_machine_short_of_memory_is_tried_once_more(case_set: CaseSet) -> None:
    class Short:
        name = "short"
        tries = 0

        def run(self, prepared: object) -> Observation:
            self.tries += 1
            ended = RunObservation(Ended.MACHINE_SHORT, None, "", "", 1.0, 0, 1, (), {})
            return Observation(0, {}, (ended,), None, {})

    sandbox = Short()
    found = run_case_set(case_set, RIGHT, Availability(sandbox=sandbox))
    assert (found.cases[0].state, sandbox.tries) == (State.NOT_RUN, 2 * len(case_set.cases))


def test_what_could_not_be_run_decides_and_then_what_failed() -> None:
    assert worst([State.PASSED, State.PASSED]) is State.PASSED
    assert worst([State.PASSED, State.FAILED]) is State.FAILED
    assert worst([State.FAILED, State.UNSUPPORTED, State.PASSED]) is State.UNSUPPORTED


def test_a_case_that_a_date_spoils_on_some_day_is_not_run(
    sandbox: Sandbox, availability: Availability, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test was valid on the day when it was written, because the two names were different then."""
    monkeypatch.setattr("time.time", lambda: datetime(2031, 5, 1, tzinfo=UTC).timestamp())
    files = [{"path": "/srv/{date:%Y}"}, {"path": "/srv/2032"}]
    cases = make_set(case_data(world={"files": files}))
    monkeypatch.setattr("time.time", lambda: datetime(2032, 5, 1, tzinfo=UTC).timestamp())
    (result,) = run_case_set(cases, ":", availability).cases
    assert result.state is State.NOT_RUN
    assert "/srv/2032 is listed twice" in result.checks[0].got


@pytest.mark.slow
def test_a_script_that_takes_its_time_everywhere_is_not_tried_for_ever(
    sandbox: Sandbox, availability: Availability, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "MOST_SECONDS", 0.2)
    cases = make_set(*(case_data(title=str(number)) for number in range(3)))
    found = run_case_set(cases, "sleep 0.2", availability)
    assert [case.state for case in found.cases] == ["passed", "timed out", "timed out"]
    assert "the tests before it took" in found.cases[2].checks[0].got


def test_world_that_script_leaves_without_second_run_is_its_own_fault(sandbox: Sandbox) -> None:
    """Otherwise a script that should not run twice could exclude itself from the figures."""
    case = make_case(
        {"check": "exit_status", "equals": 0},
        {"check": "added", "includes": ["/x/passwd"]},
        {"check": "second_run_no_effect"},
        {"check": "second_run_same_output"},
    )
    result = run_case(case, "mv /etc /x; ln -s /tmp /etc", sandbox, limits=Limits(seconds=60))
    assert [check.state.value for check in result.checks] == [*["passed"] * 2, *["failed"] * 2]
    assert result.checks[2].got == "The script replaced /etc, so it can't be run again."
