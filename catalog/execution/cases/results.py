"""What a check, a case and a case set came to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from catalog.execution.sandbox import Fingerprint, Observation


class State(StrEnum):
    """Only the first two are a verdict and enter figures; the rest is counted beside them."""

    PASSED = "passed"
    FAILED = "failed"
    UNSTABLE = "unstable"  # another verdict when it was run again
    UNSUPPORTED = "unsupported"  # it needs what the world does not have
    TIMED_OUT = "timed out"  # a limit ended it: time, output or memory
    NOT_RUN = "not run"  # no sandbox, or the sandbox failed


@dataclass(frozen=True)
class CheckResult:
    """One check of one case: what was to hold, as a sentence, and what happened where it did not."""

    sentence: str
    state: State
    got: str = ""


@dataclass(frozen=True)
class CaseResult:
    """One case: its checks in order, and what was seen where it was run at all."""

    title: str
    checks: tuple[CheckResult, ...]
    observation: Observation | None = None

    @property
    def state(self) -> State:
        """That of its worst check; a case has at least one."""
        return worst(check.state for check in self.checks)

    @property
    def verdicts(self) -> tuple[State, ...]:
        return tuple(check.state for check in self.checks)


@dataclass(frozen=True)
class Execution:
    """One script text in the worlds of one case set on one kind of machine; it never changes."""

    script_sha256: str
    case_set_sha256: str
    fingerprint: Fingerprint | None  # None where nothing was run
    cases: tuple[CaseResult, ...]
    seconds: float

    def count(self, *states: State) -> int:
        """How many checks ended in one of these states."""
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
    """The state that decides: what could not be run says nothing, and one failure fails the whole."""
    found = set(states)
    return next(state for state in _WORST_FIRST if state in found)
