"""Scripts that do nothing of what is asked: a case that they pass does not test it."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.execution.cases import Case, State, run_case
from catalog.execution.sandbox import Limits, Sandbox

NULL_SCRIPTS = (":\n", "exit 1\n", "cat\n")


@dataclass(frozen=True)
class NullResult:
    """What a case does not notice."""

    passes_without_work: bool  # `:` passes it
    never_failing: tuple[int, ...]  # positions of checks that hold for all of the null scripts


def try_null_scripts(case: Case, sandbox: Sandbox, limits: Limits) -> NullResult:
    """Each of them in the case's world."""
    verdicts = [run_case(case, script, sandbox, limits=limits).verdicts for script in NULL_SCRIPTS]
    return NullResult(
        passes_without_work=set(verdicts[0]) == {State.PASSED},
        never_failing=tuple(
            position
            for position, states in enumerate(zip(*verdicts, strict=True))
            if set(states) == {State.PASSED}
        ),
    )
