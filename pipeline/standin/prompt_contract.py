"""Parse the prompt contract: a task name and fenced sections."""

from __future__ import annotations

import re
from typing import NamedTuple

_TASK = re.compile(r"Task:[ \t]*(\S+)")
_OPENING = re.compile(r"<(([a-z]+(?:_[a-z]+)*)-\d+)>")


class Prompt(NamedTuple):
    """A parsed prompt. `task` is empty if the system prompt names no task."""

    task: str
    sections: tuple[tuple[str, str], ...]

    def first(self, name: str) -> str:
        """Return the first section called `name`, or ""."""
        return next((text for found, text in self.sections if found == name), "")

    def all(self, name: str) -> list[str]:
        """Return every section called `name`, in order."""
        return [text for found, text in self.sections if found == name]


def parse_prompt(system: str, user: str) -> Prompt:
    """Read the task from the first line of `system` and the fenced sections from `user`.

    Unclosed sections are left out, because their text may be incomplete.
    """
    named = _TASK.match(system)
    return Prompt(named[1] if named else "", tuple(_sections(user.split("\n"))))


def _sections(lines: list[str]) -> list[tuple[str, str]]:
    sections = []
    at = 0
    while at < len(lines):
        opening = _OPENING.fullmatch(lines[at])
        at += 1
        if opening and (closing := f"</{opening[1]}>") in lines[at:]:
            end = lines.index(closing, at)
            sections.append((opening[2].upper(), "\n".join(lines[at:end])))
            at = end + 1
    return sections
