"""The result of a rule: a script, and the words of the statement that the rule does not cover."""

from __future__ import annotations

from typing import NamedTuple


class Attempt(NamedTuple):
    """A script for a statement. It is good only if `unplaced` is empty."""

    body: str
    unplaced: tuple[str, ...] = ()
