"""Checks of a second run, which uses the scenario as the first run left it."""

from __future__ import annotations

from typing import Literal

from catalog.execution.cases.checks.base import BaseCheck, Seen
from catalog.execution.cases.display import show_list, show_name


class SecondRunNoEffect(BaseCheck):
    check: Literal["second_run_no_effect"]

    @property
    def needs_second_run(self) -> bool:
        return True

    def sentence(self) -> str:
        return "is safe to run twice: the second run changes no files"

    def find_fault(self, seen: Seen) -> str | None:
        effects = seen.second_effects
        if effects is None:
            return seen.not_again or "the script was not run again"
        return f"affected files: {show_list(effects.paths)}" if effects else None


class SecondRunSameOutput(BaseCheck):
    check: Literal["second_run_same_output"]

    @property
    def needs_second_run(self) -> bool:
        return True

    def sentence(self) -> str:
        return "gives the same output and exit code when run again"

    def find_fault(self, seen: Seen) -> str | None:
        if seen.second is None:
            return seen.not_again or "the script was not run again"
        if (seen.first.stdout, seen.first.status) == (seen.second.stdout, seen.second.status):
            return None
        return f"second output: {show_name(seen.second.stdout)}, exit code {seen.second.status}"
