"""The result of a rule: a script, or the words of the statement that the rule does not cover."""

from __future__ import annotations

from typing import NamedTuple


class Attempt(NamedTuple):
    """A script for a statement; it is good only if no word is `unplaced`."""

    body: str
    unplaced: tuple[str, ...] = ()
