"""A check that combines multiple checks. The combination counts as one check and passes if all of its parts pass.

A script that does nothing passes checks such as *adds no file*. Such a check is useful only together with checks that
an idle script fails.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from catalog.execution.cases.checks.base import BaseCheck, Seen
from catalog.execution.cases.checks.single import SingleCheck

MOST_PARTS = 6


class Together(BaseCheck):
    check: Literal["together"]
    of: Annotated[tuple[SingleCheck, ...], Field(min_length=2, max_length=MOST_PARTS)]

    @property
    def parts(self) -> tuple[BaseCheck, ...]:
        return self.of

    @property
    def needs_second_run(self) -> bool:
        return any(part.needs_second_run for part in self.of)

    def sentence(self) -> str:
        *first, last = (part.sentence() for part in self.of)
        return f"{'; '.join(first)}; and {last}"

    def find_fault(self, seen: Seen) -> str | None:
        faults = [
            f"{part.sentence()}: {fault}"
            for part in self.of
            if (fault := part.find_fault(seen)) is not None
        ]
        return "; ".join(faults) or None
