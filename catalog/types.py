"""The catalogue's answers to the other apps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Answer(StrEnum):
    """The judgement of retrieval: a match, a starting point, or neither."""

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
    # A starting point that no rule objects to: it lacks nothing but certainty.
    is_confirmable: bool = False


class Neighbour(NamedTuple):
    """A verified entry that is near a statement and does not answer it."""

    version_id: int
    phrasing: str  # the wording that lay nearest
    script: str
    cosine: float


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """The answer to one statement; `matches` is ordered best first and never contains an unverified script.

    `neighbours`, nearest first, do not answer it: they are examples for whoever writes a script.
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
