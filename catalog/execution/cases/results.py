"""The results of a check, a sandbox test and a test suite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from catalog.execution.sandbox import Fingerprint, Observation


class State(StrEnum):
    """The state of a check. Only PASSED and FAILED are verdicts and are included in figures."""

    PASSED = "passed"
    FAILED = "failed"
    UNSTABLE = "unstable"  # the result varied between runs
    UNSUPPORTED = "unsupported"  # the scenario lacks something that the script needs
    TIMED_OUT = "timed out"  # stopped by a time, output or memory limit
    NOT_RUN = "not run"  # no sandbox is available, or the sandbox failed


@dataclass(frozen=True)
class CheckResult:
    """The result of one check: the condition as a sentence and, if the check failed, the actual result."""

    sentence: str
    state: State
    got: str = ""


@dataclass(frozen=True)
class CaseResult:
    """The result of one sandbox test: its checks in order and, if it ran, the observation."""

    title: str
    checks: tuple[CheckResult, ...]
    observation: Observation | None = None

    @property
    def state(self) -> State:
        """Return the worst state of the test's checks."""
        return worst(check.state for check in self.checks)

    @property
    def verdicts(self) -> tuple[State, ...]:
        return tuple(check.state for check in self.checks)


@dataclass(frozen=True)
class Execution:
    """The results of one script for one test suite on one kind of machine. An execution never changes."""

    script_sha256: str
    case_set_sha256: str
    fingerprint: Fingerprint | None  # None if nothing ran
    cases: tuple[CaseResult, ...]
    seconds: float

    def count(self, *states: State) -> int:
        """Return the number of checks with one of these states."""
        return sum(check.state in states for case in self.cases for check in case.checks)


_WORST_FIRST = (
    State.NOT_RUN,
    State.UNSUPPORTED,
    State.TIMED_OUT,
    State.UNSTABLE,
    State.FAILED,
    State.PASSED,
)


def worst(states: Iterable[State]) -> State:
    """Return the worst of the states. A missing result outweighs all verdicts, and one failure outweighs all passes."""
    found = set(states)
    return next(state for state in _WORST_FIRST if state in found)
