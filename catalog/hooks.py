"""Callables of higher apps for facts about entries that the catalogue shows; registered by the composition root.

Without them those facts are unknown, and the catalogue works all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Model


class Shown(NamedTuple):
    """How often retrieval showed a version to people, and how often they then edited it."""

    match: int = 0
    adapt: int = 0
    edited: int = 0


class Case(NamedTuple):
    """A version that was shown for a statement, with the confidence that was shown."""

    statement: str
    version_id: int
    confidence: float


count_shown: Callable[[Sequence[int]], Mapping[int, Shown]] | None = None

# Cases with the confidence nearest to the given one, up to a limit; of one scoring, or of any if it is empty.
find_cases: Callable[[float, str, int], Sequence[Case]] | None = None

# The case sets that reviewers made from these, by key.
sets_made_of: Callable[[Collection[int]], Collection[int]] | None = None

# Whether a program is answered: its account, its token, and whether that opens no more than what agents may ask. Raises
# Refused where it is not.
admit_program: Callable[[User, Model, bool], None] | None = None

# Which of these runs a study looks at that is not closed.
find_studied: Callable[[Collection[int]], Collection[int]] | None = None


def shown_of(version_ids: Sequence[int]) -> Mapping[int, Shown]:
    """How often these versions were shown; those never shown are left out."""
    return count_shown(version_ids) if count_shown and version_ids else {}


def cases_near(confidence: float, *, scoring: str, limit: int) -> Sequence[Case]:
    """Cases to label, those nearest to the confidence first."""
    return find_cases(confidence, scoring, limit) if find_cases else ()


def changed_from(case_sets: Collection[int]) -> Collection[int]:
    """The case sets that reviewers made from these."""
    return sets_made_of(case_sets) if sets_made_of and case_sets else ()


def runs_studied(runs: Collection[int]) -> Collection[int]:
    """Those of these runs that an open study looks at."""
    return find_studied(runs) if find_studied and runs else ()


def let_program_ask(user: User, token: Model, *, outside: bool) -> None:
    """Raise Refused where this program is not answered now."""
    if admit_program:
        admit_program(user, token, outside)
