"""An item's pattern as one criterion sees it, and as it would be if what is unresolved were settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pipeline.types import Verdict
from review.study.types import Criterion, ItemPattern, Origin, Recommended, Standing

Patterns = Mapping[ItemPattern, int]


class Seen(NamedTuple):
    """Right, wrong, or None for no final score, stage by stage; and what the assessor said."""

    right: bool | None
    feedback: bool | None
    refined: bool | None
    is_assessed: bool
    is_flagged: bool
    pattern: ItemPattern

    @property
    def is_wrong(self) -> bool:
        return self.right is False

    @property
    def is_failed(self) -> bool:
        return self.pattern.origin is Origin.FAILED

    @property
    def has_verdict(self) -> bool:
        """The assessor said correct or incorrect."""
        return self.is_assessed and self.pattern.verdict is not Verdict.UNKNOWN

    @property
    def awaits_refined(self) -> bool:
        """A refined Draft exists, and scores that would settle it are still to come."""
        return self.pattern.has_refined and self.pattern.refined in (
            Standing.UNSCORED,
            Standing.PENDING,
        )

    @property
    def is_switched(self) -> bool:
        """The assessor flagged the first Draft and a refined one takes its place."""
        return self.is_flagged and self.pattern.has_refined

    @property
    def by_expert(self) -> bool:
        """Right at first, or wrong and refined right: an expert says where to refine."""
        return bool(self.right or self.refined)

    @property
    def by_assessor(self) -> bool:
        """Right where every flagged Draft is replaced by its refinement; the guard is ignored."""
        return bool(self.refined if self.is_switched else self.right)

    @property
    def as_recommended(self) -> bool:
        recommended = self.pattern.recommended
        if recommended is Recommended.FIRST:
            return bool(self.right)
        return recommended is Recommended.REFINED and bool(self.refined)


def see(pattern: ItemPattern, criterion: Criterion) -> Seen:
    """The pattern under a criterion; what is wrong, and so what triggers a refinement, depends on it."""
    return Seen(
        right=pattern.script.right(criterion),
        feedback=pattern.feedback.right(criterion),
        refined=pattern.refined.right(criterion),
        is_assessed=pattern.verdict is not None,
        is_flagged=pattern.is_flagged,
        pattern=pattern,
    )


Part = Callable[[Seen], int | None]


class Outlook(NamedTuple):
    """An item seen plainly, and as if all that is unresolved were right, or wrong."""

    plain: Seen
    if_right: Seen
    if_wrong: Seen

    def hangs(self, part: Part) -> bool:
        """Whether this figure waits for a score of these items to be resolved."""
        if self.plain is self.if_right:
            return False
        here = part(self.plain)
        return part(self.if_right) != here or part(self.if_wrong) != here


def look_at(pattern: ItemPattern, criterion: Criterion) -> Outlook:
    """The pattern under a criterion, seen plainly and settled either way."""
    plain = see(pattern, criterion)
    if not pattern.has_unresolved:
        return Outlook(plain, plain, plain)
    return Outlook(
        plain,
        see(pattern.settle(Standing.CORRECT), criterion),
        see(pattern.settle(Standing.INCORRECT), criterion),
    )
