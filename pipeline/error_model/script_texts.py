"""Texts of simulated items. Each script contains a mark that says whether the script is right, so that every stage can
read it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(r"Simulated: item (\d+), draft (\d+), (right|wrong)\.")
_HEAD = 3  # lines before the body


class SimulatedDraft(NamedTuple):
    """A Draft of an item. Number 0 is the generated Draft, and number n is the Draft refined in round n."""

    item: int
    number: int
    right: bool

    @property
    def mark(self) -> str:
        """Return the marker by which `read_draft` recognizes the Draft."""
        quality = "right" if self.right else "wrong"
        return f"Simulated: item {self.item}, draft {self.number}, {quality}."


def write_statement(item: int) -> str:
    """Return the action statement of an item."""
    return f"Simulated statement {item}: report on service {item} and rotate its logs if they are large"


def read_item(statement: str) -> int | None:
    """Return the item that a statement belongs to, or None if the statement is not simulated."""
    found = re.match(r"Simulated statement (\d+):", statement)
    return int(found[1]) if found else None


def write_script(draft: SimulatedDraft, *, lines: int) -> str:
    """Return a script that passes Bash and ShellCheck and only prints text."""
    head = [
        "#!/usr/bin/env bash",
        f"# {draft.mark} Written by no model.",
        "set -euo pipefail",
    ]
    body = [f"printf 'simulated step %d of the script\\n' {n + 1}" for n in range(lines - _HEAD)]
    return "\n".join([*head, *body]) + "\n"


def shape_of(script: str) -> str:
    """Return a script without its mark, which is the same for all scripts of one length."""
    return _MARK.sub("Simulated.", script, count=1)


def describe_draft(draft: SimulatedDraft) -> str:
    """Return a description of the script as an assessor would write it."""
    return (
        f"{draft.mark} The script prints a numbered line for each of its steps and changes nothing. It stops at the "
        "first command that fails, and it reads no file, starts no service and needs no privileges."
    )


def read_draft(text: str) -> SimulatedDraft | None:
    """Return the Draft encoded in a script or its description, or None if the text has no marker."""
    found = _MARK.search(text)
    return SimulatedDraft(int(found[1]), int(found[2]), found[3] == "right") if found else None
