"""Make each stubbed call fail once, to see whether the script stops or continues."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.execution.cases import Case, CaseResult, Variation, run_case
from catalog.execution.cases.display import show_list, show_name
from catalog.execution.sandbox import Limits, Sandbox

MOST_CALLS = 6


@dataclass(frozen=True)
class FailingCall:
    """The script's behavior after a stubbed call failed. Reviewers see this behavior, but it is not a verdict."""

    call: str
    later: tuple[str, ...]
    status: int | None

    def __str__(self) -> str:
        then = f"still calls {show_list(self.later)}" if self.later else "makes no more calls"
        return f"if {show_name(self.call)} fails, the script {then} and exits {self.status}"


def try_failing_calls(
    case: Case, script: str, result: CaseResult, sandbox: Sandbox, limits: Limits
) -> tuple[FailingCall, ...]:
    """Run the script once for each of its first MOST_CALLS stubbed calls, and make that call fail."""
    if result.observation is None:
        return ()
    tried = []
    for number, call in enumerate(result.observation.runs[0].calls[:MOST_CALLS]):
        failing = run_case(case, script, sandbox, Variation(failing_call=number), limits)
        if failing.observation is None:
            continue
        run = failing.observation.runs[0]
        later = tuple(str(made) for made in run.calls[number + 1 :])
        tried.append(FailingCall(str(call), later, run.status))
    return tuple(tried)
