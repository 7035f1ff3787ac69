"""What the catalogue says to the other apps: its errors and the shapes of its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Refused(Exception):
    """A change that the rules do not allow; its text is shown to the person. Nothing was changed."""


class NotAllowedNow(Refused):
    """The rules allow it, but not in the present state (409): somebody was faster, or it is done already."""


class Stale(NotAllowedNow):
    """The person decided on something that is no longer the newest; `newest` says what is."""

    def __init__(self, message: str, *, newest: int) -> None:
        super().__init__(message)
        self.newest = newest


class BadInput(Refused):
    """What was typed or sent can't be used (422); `field` names where, or is empty."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class Answer(StrEnum):
    """What retrieval says: the entry is it, a starting point, or nothing fits."""

    MATCH = "match"
    ADAPT = "adapt"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Match:
    """One catalogue entry that retrieval found for a statement."""

    entry: str  # slug
    version: int  # number of the Version within its Entry
    version_id: int
    phrasing: str  # the wording that lay nearest
    title: str
    script: str
    answer: Answer
    confidence: float  # 0 to 1
    cosine: float
    reasons: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    fills: Mapping[str, str] = field(
        default_factory=dict
    )  # parameter name to the statement's literal


class Neighbour(NamedTuple):
    """A verified entry that lies near a statement and does not answer it."""

    version_id: int
    phrasing: str  # the wording that lay nearest
    script: str
    cosine: float


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """The answer to one statement; `matches` is ordered best first and never holds an unverified script.

    Nor do `neighbours`, nearest first: they answer nothing, and are examples for who writes a script.
    """

    statement: str
    answer: Answer
    matches: tuple[Match, ...]
    threshold: float
    scoring: str  # version of the relevance model
    neighbours: tuple[Neighbour, ...] = ()
    degraded: str = (
        ""  # why the search was less than usual, e.g. words only; empty where it was not
    )
