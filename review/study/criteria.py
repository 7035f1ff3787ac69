"""Evaluate an item's pattern under one criterion: the known results and all possible final results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from pipeline.types import Verdict
from review.study.types import Criterion, FinalScore, ItemPattern, Origin, Recommended

Patterns = Mapping[ItemPattern, int]


class EndedItem(NamedTuple):
    """An item whose stages have all ended. A result is True (right), False (wrong) or None (no such text)."""

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
        """Return whether the assessor's verdict is correct or incorrect."""
        return self.pattern.verdict in (Verdict.CORRECT, Verdict.INCORRECT)

    @property
    def by_expert(self) -> bool:
        """Return whether the first or the refined Draft is right, which is the result if experts trigger refinement."""
        return bool(self.right or self.refined)

    @property
    def by_assessor(self) -> bool:
        """Return whether the item is right if the refined Draft replaces a flagged first Draft. Ignore the guard."""
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

    `is_scored` is set if the script has a final score. Otherwise, the item is open: pending or unresolved.
    """

    def __init__(self, pattern: ItemPattern, criterion: Criterion) -> None:
        self.pattern, self._criterion = pattern, criterion
        self.right = pattern.script.right(criterion)
        self.is_scored = self.right is not None

    @cached_property
    def ends(self) -> tuple[EndedItem, ...]:
        """Return the item in every possible final state. An item without open parts has only one final state."""
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
        # Feedback or a refined script that does not exist yet may never be created.
        may_be_absent = self.pattern.is_running and final is FinalScore.UNSCORED
        return (True, False, None) if may_be_absent else (True, False)

    def _others(self, ended: ItemPattern) -> tuple[bool | None, ...]:
        if ended.recommended is not Recommended.OTHER:
            return (None,)
        return self._ways(ended.advised)

    def added(self, part: Part) -> frozenset[int | None]:
        """Return the item's possible contributions to a figure. None means that the figure excludes the item."""
        return frozenset(None if (found := part(end)) is None else int(found) for end in self.ends)

    def closed(self, part: Part) -> int | None:
        """Return the item's contribution to the numerator, or None if the item is open or the figure excludes it."""
        return self._closed(self.added(part))

    def is_open(self, part: Part) -> bool:
        """Return whether the figure depends on an open part of the item."""
        added = self.added(part)
        return added != {None} and bool(added) and self._closed(added) is None

    def waits_for_word(self, part: Part) -> bool:
        """Return whether the figure depends on a part of the item that is unresolved, not just pending."""
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
        """Return whether a change in only the field at index `place` of EndedItem changes the item's contribution."""
        found: dict[tuple[object, ...], set[int | None]] = {}
        for end in self.ends:
            rest = (*end[:place], *end[place + 1 :])
            found.setdefault(rest, set()).add(part(end))
        return any(len(ways) > 1 for ways in found.values())


@lru_cache(maxsize=4_096)
def _ends_of(pattern: ItemPattern) -> tuple[ItemPattern, ...]:
    """Return all possible final patterns of an item, with each verdict and recommendation that its run can produce."""
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
    """Return the contribution that minimizes a share. Prefer not right, then excluded, then right."""
    numbers = [one for one in added if one is not None]
    if numbers and min(numbers) <= 0:
        return min(numbers)
    return None if None in added or not numbers else min(numbers)


def highest(added: frozenset[int | None]) -> int | None:
    """Return the contribution that maximizes a share. Prefer right, then excluded, then not right."""
    numbers = [one for one in added if one is not None]
    if numbers and max(numbers) >= 1:
        return max(numbers)
    return None if None in added or not numbers else max(numbers)


def made_patterns(patterns: Patterns) -> Iterator[tuple[ItemPattern, int]]:
    """Yield the patterns and counts for model figures, which exclude items answered from the catalogue."""
    return ((key, n) for key, n in patterns.items() if n and key.origin is not Origin.RETRIEVED)
