"""Run scripts that do no useful work. A test that such a script passes proves nothing."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.execution.cases import Case, State, run_case
from catalog.execution.sandbox import Limits, Sandbox

NULL_SCRIPTS = (":\n", "exit 1\n", "cat\n")


@dataclass(frozen=True)
class NullResult:
    """The weaknesses of a test that the null scripts reveal."""

    passes_without_work: bool  # whether `:` passes the test
    never_failing: tuple[int, ...]  # indexes of checks that all null scripts pass


def try_null_scripts(case: Case, sandbox: Sandbox, limits: Limits) -> NullResult:
    """Run each null script in the test's scenario, and return the test's weaknesses."""
    verdicts = [run_case(case, script, sandbox, limits=limits).verdicts for script in NULL_SCRIPTS]
    return NullResult(
        passes_without_work=set(verdicts[0]) == {State.PASSED},
        never_failing=tuple(
            position
            for position, states in enumerate(zip(*verdicts, strict=True))
            if set(states) == {State.PASSED}
        ),
    )
