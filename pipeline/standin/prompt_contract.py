"""The prompt contract as the demo model reads it: a task name and fenced sections."""

from __future__ import annotations

import re
from typing import NamedTuple

_TASK = re.compile(r"Task:[ \t]*(\S+)")
_OPENING = re.compile(r"<<<([A-Z]+(?:_[A-Z]+)*_*)")


class Prompt(NamedTuple):
    """One request under the contract; `task` is empty where the system string names none."""

    task: str
    sections: tuple[tuple[str, str], ...]

    def first(self, name: str) -> str:
        """The first section called `name`, or an empty string."""
        return next((text for found, text in self.sections if found == name), "")

    def all(self, name: str) -> list[str]:
        """Every section called `name`, in order."""
        return [text for found, text in self.sections if found == name]


def parse_prompt(system: str, user: str) -> Prompt:
    """Read the task from the first line of `system` and the fenced sections from `user`.

    A section that is never closed is left out: half a text is not the text.
    """
    named = _TASK.match(system)
    return Prompt(named[1] if named else "", tuple(_sections(user.split("\n"))))


def _sections(lines: list[str]) -> list[tuple[str, str]]:
    sections = []
    at = 0
    while at < len(lines):
        opening = _OPENING.fullmatch(lines[at])
        at += 1
        if opening and opening[1] in lines[at:]:
            end = lines.index(opening[1], at)
            sections.append((opening[1].rstrip("_"), "\n".join(lines[at:end])))
            at = end + 1
    return sections
