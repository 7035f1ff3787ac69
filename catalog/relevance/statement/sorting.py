"""Compare a script's sort direction with the direction in the statement."""

from __future__ import annotations

import re

_SORT = re.compile(r"(?:^|[|;&(`]|\bsudo )\s*(?:LC_ALL=\S+ )?sort\b([^|;&)`\n]*)")
_REVERSED = re.compile(
    r"(?:^|\s)(?:-[A-Za-z]*r[A-Za-z]*|-k ?[\d.,]+[A-Za-z]*r[A-Za-z]*|--reverse)(?=\s|$)"
)
_LIST = re.compile(r"(?:^|[|;&(`]|\bsudo )\s*ls((?: +-[A-Za-z]+)+)")
_PROCESSES = re.compile(r"\bps\b[^|;&\n]*--sort[= ]['\"]?([+-]?)[\w%]")
_TURNED = re.compile(r"\|\s*tac\b")
_OPPOSITE = {"order:up": "order:down", "order:down": "order:up"}


def direction_of(script: str) -> str:
    """Return the mark of the script's last sort, `order:up` or `order:down`, or an empty string if unknown."""
    found = _direction(script)
    return _OPPOSITE[found] if found and _TURNED.search(script) else found


def sorts_otherwise(marks: frozenset[str], script: str) -> bool:
    """Return whether the statement names one direction and the script sorts in the opposite direction."""
    said = marks & _OPPOSITE.keys()
    direction = direction_of(script)
    return bool(direction) and said == {_OPPOSITE[direction]}


def _direction(script: str) -> str:
    if sorts := _SORT.findall(script):
        return "order:down" if _REVERSED.search(sorts[-1]) else "order:up"
    if processes := _PROCESSES.findall(script):
        return "order:down" if processes[-1] == "-" else "order:up"
    options = "".join(_LIST.findall(script))
    if "t" in options or "S" in options:  # newest first, largest first
        return "order:up" if "r" in options else "order:down"
    return ""
