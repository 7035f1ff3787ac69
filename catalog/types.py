"""Types of the results that the catalogue returns to other apps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Answer(StrEnum):
    """The result of retrieval: a match, a starting point, or neither."""

    MATCH = "match"
    ADAPT = "adapt"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Match:
    """A catalogue entry that retrieval found for a statement."""

    entry: str  # slug
    version: int  # number of the Version within its Entry
    version_id: int
    phrasing: str  # the nearest phrasing
    title: str
    script: str
    answer: Answer
    confidence: float  # 0 to 1
    cosine: float
    reasons: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    # Maps each parameter's name to the statement's literal.
    fills: Mapping[str, str] = field(default_factory=dict)
    # True if the match is a starting point only because of its low confidence, not because of a rule.
    is_confirmable: bool = False


class Neighbour(NamedTuple):
    """A verified entry that is similar to a statement but does not answer it."""

    version_id: int
    phrasing: str  # the nearest phrasing
    script: str
    cosine: float


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """The result of retrieval for a statement. `matches` contains only verified scripts, best first.

    `neighbours` contains entries that do not answer the statement, nearest first. They serve as examples in prompts.
    """

    statement: str
    answer: Answer
    matches: tuple[Match, ...]
    threshold: float
    scoring: str  # version of the relevance model
    neighbours: tuple[Neighbour, ...] = ()
    degraded: str = ""  # why the search was limited (for example to text search), or empty
