"""What a rule came to: a script, or the words of the statement that it has no place for."""

from __future__ import annotations

from typing import NamedTuple


class Attempt(NamedTuple):
    """A script for a statement; it is good only where no word of the statement is `unplaced`."""

    body: str
    unplaced: tuple[str, ...] = ()
