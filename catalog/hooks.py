"""Hooks through which higher-level apps supply data about entries. The composition root registers them.

The catalogue also works without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Model


class Shown(NamedTuple):
    """How often retrieval showed a version to users, and how often they then edited it."""

    match: int = 0
    adapt: int = 0
    edited: int = 0


class Case(NamedTuple):
    """A version that was shown for a statement, with the confidence shown."""

    statement: str
    version_id: int
    confidence: float


count_shown: Callable[[Sequence[int]], Mapping[int, Shown]] | None = None

# Return up to `limit` cases, nearest to the given confidence first. An empty scoring name matches all scorings.
find_cases: Callable[[float, str, int], Sequence[Case]] | None = None

# Return the keys of the case sets that reviewers derived from the given case sets.
sets_made_of: Callable[[Collection[int]], Collection[int]] | None = None

# Count a program's request. Raise Refused if the program exceeds its limit, or if agents are paused and the program is
# external (the third argument).
admit_program: Callable[[User, Model, bool], None] | None = None

# Return the given runs that are in an open study.
find_studied: Callable[[Collection[int]], Collection[int]] | None = None


def shown_of(version_ids: Sequence[int]) -> Mapping[int, Shown]:
    """Return how often each version was shown. Versions that were never shown are omitted."""
    return count_shown(version_ids) if count_shown and version_ids else {}


def cases_near(confidence: float, *, scoring: str, limit: int) -> Sequence[Case]:
    """Return cases to label, nearest to the confidence first."""
    return find_cases(confidence, scoring, limit) if find_cases else ()


def changed_from(case_sets: Collection[int]) -> Collection[int]:
    """Return the case sets that reviewers derived from the given case sets."""
    return sets_made_of(case_sets) if sets_made_of and case_sets else ()


def runs_studied(runs: Collection[int]) -> Collection[int]:
    """Return the given runs that are in an open study."""
    return find_studied(runs) if find_studied and runs else ()


def let_program_ask(user: User, token: Model, *, outside: bool) -> None:
    """Count a program's request. Raise Refused above the limit, or if `outside` is set and agents are paused."""
    if admit_program:
        admit_program(user, token, outside)
