"""One row of what a measurement prints: what was measured, what came out, what is held."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Figure(TypedDict):
    what: str
    value: float | None  # None where it could not be measured, with the reason in `note`
    held: str  # the figure to hold, in words; empty where none is set
    note: NotRequired[str]


class CannotMeasure(Exception):
    """What a measurement needs is not on this machine; the text says what."""
