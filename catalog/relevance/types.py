"""Types for the input and output of the relevance rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from catalog.types import Answer

ParameterType = Literal["text", "number", "path", "choice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an entry's script."""

    name: str
    type: ParameterType = "text"
    default: str | None = None
    description: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An entry that may answer a statement. `phrasing` is its nearest phrasing, with the similarity `cosine`."""

    phrasing: str
    script: str
    cosine: float
    phrasings: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """An agreement between statement and entry, as a short sentence."""

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between statement and entry. `span` is its position in the statement, if it has one."""

    code: str
    text: str
    span: tuple[int, int] | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The judgment of a candidate for a statement.

    `confidence` is the estimated probability that the entry is the answer without changes. `likeness` is the similarity
    as if all literals agreed, and helps to rank starting points. `fills` maps parameters to values.
    """

    answer: Answer
    confidence: float
    likeness: float
    reasons: tuple[Reason, ...] = ()
    differs: tuple[Difference, ...] = ()
    fills: Mapping[str, str] = field(default_factory=dict)
    lacks_only_certainty: bool = False  # True for a starting point that the rules allow as a match
