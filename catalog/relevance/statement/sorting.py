"""Which way round a script sorts, beside what a statement says of it."""

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
    """The mark `order:up` or `order:down` by the last thing that the script sorts; empty where nothing tells it."""
    found = _direction(script)
    return _OPPOSITE[found] if found and _TURNED.search(script) else found


def sorts_otherwise(marks: frozenset[str], script: str) -> bool:
    """Whether a statement says one direction, and the script sorts in the other."""
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
