"""How much of a script was analyzed, from the findings about the lines that could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from catalog.analysis.shell.commands import UNREAD_CODES
from catalog.analysis.types import Coverage, Outcome

_FIRST_VERSION = 5  # of the risk rules that report every unread line


class Region(NamedTuple):
    """The parts of a finding that say which lines were not read, however it is stored."""

    code: str
    line: int | None
    end_line: int | None


def coverage_of(script: str, findings: Iterable[Region]) -> Coverage:
    """Count the lines of the script, and those that no finding calls unread."""
    lines = len(script.removesuffix("\n").split("\n"))
    unread = {
        line
        for found in findings
        if found.code in UNREAD_CODES and found.line is not None
        for line in range(found.line, (found.end_line or found.line) + 1)
    }
    return Coverage(lines - len(unread), lines)


def not_judged_in(findings: Iterable[object]) -> list[str]:
    """The messages of the unscored findings, each once, in order; rows and stored mappings alike."""
    messages: dict[str, None] = {}
    for found in findings:
        read = found.get if isinstance(found, Mapping) else partial(getattr, found)
        if read("outcome", "") == Outcome.UNSCORED:
            messages[str(read("message", ""))] = None
    return list(messages)


def reports_unread_lines(checkers: str) -> bool:
    """Whether these checkers, as `checkers()` names them, report every line that they could not read."""
    found = re.search(r"risk rules (\d+)", checkers)
    return found is not None and int(found[1]) >= _FIRST_VERSION
