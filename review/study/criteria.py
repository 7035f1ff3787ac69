"""Evaluates an item's pattern under one criterion: the known results, and all possible final results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from pipeline.types import Verdict
from review.study.types import Criterion, FinalScore, ItemPattern, Origin, Recommended

Patterns = Mapping[ItemPattern, int]


class EndedItem(NamedTuple):
    """An item whose stages have all ended. Each result is right, wrong, or None if the item has no such text."""

    right: bool
    feedback: bool | None
    refined: bool | None
    pattern: ItemPattern
    # Result of the recommended Draft if it is neither the first nor the refined Draft.
    other: bool | None
    criterion: Criterion

    @property
    def is_wrong(self) -> bool:
        return not self.right

    @property
    def is_failed(self) -> bool:
        return self.pattern.origin is Origin.FAILED

    @property
    def is_assessed(self) -> bool:
        return self.pattern.verdict is not None

    @property
    def is_flagged(self) -> bool:
        return self.pattern.is_flagged

    @property
    def has_verdict(self) -> bool:
        """Whether the assessor's verdict is correct or incorrect."""
        return self.pattern.verdict in (Verdict.CORRECT, Verdict.INCORRECT)

    @property
    def by_expert(self) -> bool:
        """Whether the item is right if experts trigger refinement: right at first, or right after refinement."""
        return bool(self.right or self.refined)

    @property
    def by_assessor(self) -> bool:
        """Whether the item is right if its refinement replaces every flagged Draft. The guard is ignored."""
        is_switched = self.is_flagged and self.refined is not None
        return bool(self.refined if is_switched else self.right)

    @property
    def as_recommended(self) -> bool:
        recommended = self.pattern.recommended
        if recommended is Recommended.FIRST:
            return self.right
        if recommended is Recommended.OTHER:
            return bool(self.other)
        return recommended is Recommended.REFINED and bool(self.refined)


Part = Callable[[EndedItem], int | None]


class Outlook:
    """An item under a criterion, with all possible results of its open parts.

    `is_scored` is whether the script has a final score. Without one, the item is open: pending or unresolved.
    """

    def __init__(self, pattern: ItemPattern, criterion: Criterion) -> None:
        self.pattern, self._criterion = pattern, criterion
        self.right = pattern.script.right(criterion)
        self.is_scored = self.right is not None

    @cached_property
    def ends(self) -> tuple[EndedItem, ...]:
        """The item in every possible final state. If nothing is open, it has only one."""
        pattern = self.pattern
        scripts = (True, False) if self.right is None else (self.right,)
        return tuple(
            EndedItem(right, feedback, refined, ended, other, self._criterion)
            for ended in _ends_of(pattern)
            for right in scripts
            for feedback in self._ways(pattern.feedback)
            for refined in ((right,) if pattern.is_same else self._ways(pattern.refined))
            for other in self._others(ended)
        )

    def _ways(self, final: FinalScore) -> tuple[bool | None, ...]:
        if final is FinalScore.ABSENT:
            return (None,)
        right = final.right(self._criterion)
        if right is not None:
            return (right,)
        # A text that does not exist yet may never be created.
        may_be_absent = self.pattern.is_running and final is FinalScore.UNSCORED
        return (True, False, None) if may_be_absent else (True, False)

    def _others(self, ended: ItemPattern) -> tuple[bool | None, ...]:
        if ended.recommended is not Recommended.OTHER:
            return (None,)
        return self._ways(ended.advised)

    def added(self, part: Part) -> frozenset[int | None]:
        """Return the values that the item can still add to a figure's numerator. None excludes it from the figure."""
        return frozenset(None if (found := part(end)) is None else int(found) for end in self.ends)

    def closed(self, part: Part) -> int | None:
        """Return the value that the item adds now, or None if the figure excludes it or it is open."""
        return self._closed(self.added(part))

    def is_open(self, part: Part) -> bool:
        """Return whether the figure depends on an open part of the item."""
        added = self.added(part)
        return added != {None} and bool(added) and self._closed(added) is None

    def waits_for_word(self, part: Part) -> bool:
        """Return whether the open part that the figure depends on is unresolved rather than pending."""
        if not self.is_scored:
            return self.pattern.script.is_unresolved(self._criterion)
        return any(
            self._hangs_on(part, place)
            for place, final in (
                (1, self.pattern.feedback),
                (2, self.pattern.refined),
                (4, self.pattern.advised),
            )
            if final.is_unresolved(self._criterion)
        )

    def _closed(self, added: frozenset[int | None]) -> int | None:
        return next(iter(added)) if self.is_scored and len(added) == 1 else None

    def _hangs_on(self, part: Part, place: int) -> bool:
        """Return whether the figure changes with one stage while all other stages stay the same."""
        found: dict[tuple[object, ...], set[int | None]] = {}
        for end in self.ends:
            rest = (*end[:place], *end[place + 1 :])
            found.setdefault(rest, set()).add(part(end))
        return any(len(ways) > 1 for ways in found.values())


@lru_cache(maxsize=4_096)
def _ends_of(pattern: ItemPattern) -> tuple[ItemPattern, ...]:
    """Return all possible final patterns of the item's run, with any missing verdict and any recommendation."""
    if not pattern.is_running:
        return (pattern,)
    verdicts = (None, *Verdict) if pattern.verdict is None else (pattern.verdict,)
    return tuple(
        pattern._replace(
            verdict=verdict,
            recommended=recommended,
            advised=FinalScore.UNSCORED if recommended is Recommended.OTHER else FinalScore.ABSENT,
        )
        for verdict in verdicts
        for recommended in Recommended
    )


def lowest(added: frozenset[int | None]) -> int | None:
    """Return the contribution that minimizes a share: not right, or else excluded, or else right."""
    numbers = [one for one in added if one is not None]
    if numbers and min(numbers) <= 0:
        return min(numbers)
    return None if None in added or not numbers else min(numbers)


def highest(added: frozenset[int | None]) -> int | None:
    """Return the contribution that maximizes a share: right, or else excluded, or else not right."""
    numbers = [one for one in added if one is not None]
    if numbers and max(numbers) >= 1:
        return max(numbers)
    return None if None in added or not numbers else max(numbers)


def made_patterns(patterns: Patterns) -> Iterator[tuple[ItemPattern, int]]:
    """Yield the items in model figures, which exclude items answered from the catalogue."""
    return ((key, n) for key, n in patterns.items() if n and key.origin is not Origin.RETRIEVED)
