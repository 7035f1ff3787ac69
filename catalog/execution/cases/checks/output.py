"""Checks of the output and the exit status. The author chooses how strictly the output is compared."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from catalog.execution.cases.checks.base import BaseCheck, Seen, SomeText, Text, split_lines
from catalog.execution.cases.display import show_list, show_name

Lines = Annotated[tuple[Text, ...], Field(max_length=500)]
_BETWEEN_VALUES = re.compile(r"[\s,;=()\[\]{}<>\"'`|]+")


class StdoutLines(BaseCheck):
    check: Literal["stdout_lines"]
    exactly: Lines | None = None
    any_order: Lines | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> StdoutLines:
        if (self.exactly is None) == (self.any_order is None):
            raise ValueError("specify either exactly or any_order")
        return self

    def sentence(self) -> str:
        lines = self._lines()
        if not lines:
            return "prints nothing"
        order = "" if self.exactly is not None else ", in any order"
        return f"prints exactly the lines {show_list(lines)}{order}"

    def find_fault(self, seen: Seen) -> str | None:
        printed = split_lines(seen.first.stdout)
        wanted = list(self._lines())
        if self.any_order is not None:
            printed, wanted = sorted(printed), sorted(wanted)
        return None if printed == wanted else f"actual output: {show_list(printed)}"

    def _lines(self) -> tuple[str, ...]:
        return self.exactly if self.exactly is not None else self.any_order or ()


class StdoutContains(BaseCheck):
    check: Literal["stdout_contains"]
    text: SomeText

    def sentence(self) -> str:
        return f"prints output that contains {show_name(self.text)}"

    def find_fault(self, seen: Seen) -> str | None:
        return None if self.text in seen.first.stdout else _printed(seen.first.stdout)


class StdoutValue(BaseCheck):
    """A complete number or word in the output: 95 is in "used: 95%" but not in "1950"."""

    check: Literal["stdout_value"]
    value: SomeText

    @model_validator(mode="after")
    def _is_a_value(self) -> StdoutValue:
        if not _values_of(self.value):
            raise ValueError("the value must contain a letter or a digit")
        return self

    def sentence(self) -> str:
        return f"prints output that contains the value {show_name(self.value)}"

    def find_fault(self, seen: Seen) -> str | None:
        wanted, printed = _values_of(self.value), _values_of(seen.first.stdout)
        for start in range(len(printed) - len(wanted) + 1):
            if all(w & p for w, p in zip(wanted, printed[start:], strict=False)):
                return None
        return _printed(seen.first.stdout)


class StderrContains(BaseCheck):
    check: Literal["stderr_contains"]
    text: SomeText

    def sentence(self) -> str:
        return f"writes {show_name(self.text)} to standard error"

    def find_fault(self, seen: Seen) -> str | None:
        return None if self.text in seen.first.stderr else _said(seen.first.stderr)


class StderrEmpty(BaseCheck):
    check: Literal["stderr_empty"]

    def sentence(self) -> str:
        return "writes nothing to standard error"

    def find_fault(self, seen: Seen) -> str | None:
        return None if not seen.first.stderr else _said(seen.first.stderr)


class ExitStatus(BaseCheck):
    check: Literal["exit_status"]
    equals: Annotated[int, Field(ge=0, le=255)] | None = None
    nonzero: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> ExitStatus:
        if (self.equals is None) == (self.nonzero is None):
            raise ValueError("specify either equals or nonzero")
        return self

    def sentence(self) -> str:
        if self.nonzero:
            return "exits non-zero"
        return f"exits {self.equals}"

    def find_fault(self, seen: Seen) -> str | None:
        status = seen.first.status
        holds = status == self.equals if self.nonzero is None else status not in (0, None)
        return None if holds else f"actual exit code: {status}"


def _values_of(text: str) -> list[set[str]]:
    """Return the words and numbers in order, each with and without surrounding punctuation."""
    words = (word for word in _BETWEEN_VALUES.split(text) if any(map(str.isalnum, word)))
    return [{word, word.strip(".:%!?")} for word in words]


def _printed(text: str) -> str:
    return f"actual output: {show_name(text)}" if text else "no output"


def _said(text: str) -> str:
    return f"actual standard error: {show_name(text)}" if text else "standard error was empty"
