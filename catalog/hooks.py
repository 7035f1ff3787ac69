"""Hooks through which higher apps supply facts about entries. The composition root registers them.

Without a hook, its facts are unknown and the catalogue still works.
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

# Return cases with the confidence nearest to the given one, up to a limit. An empty scoring means any scoring.
find_cases: Callable[[float, str, int], Sequence[Case]] | None = None

# Return the keys of the case sets that reviewers derived from these.
sets_made_of: Callable[[Collection[int]], Collection[int]] | None = None

# Check the account and the token of a program, and that the token grants no more than agents may do. Raise Refused if
# the program is not admitted.
admit_program: Callable[[User, Model, bool], None] | None = None

# Return those of these runs that an open study contains.
find_studied: Callable[[Collection[int]], Collection[int]] | None = None


def shown_of(version_ids: Sequence[int]) -> Mapping[int, Shown]:
    """Return how often these versions were shown, without versions that were never shown."""
    return count_shown(version_ids) if count_shown and version_ids else {}


def cases_near(confidence: float, *, scoring: str, limit: int) -> Sequence[Case]:
    """Return cases to label, nearest to the confidence first."""
    return find_cases(confidence, scoring, limit) if find_cases else ()


def changed_from(case_sets: Collection[int]) -> Collection[int]:
    """Return the case sets that reviewers derived from these."""
    return sets_made_of(case_sets) if sets_made_of and case_sets else ()


def runs_studied(runs: Collection[int]) -> Collection[int]:
    """Return those of these runs that an open study contains."""
    return find_studied(runs) if find_studied and runs else ()


def let_program_ask(user: User, token: Model, *, outside: bool) -> None:
    """Raise Refused if this program is not admitted now."""
    if admit_program:
        admit_program(user, token, outside)
