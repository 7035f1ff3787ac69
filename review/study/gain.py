"""Calculate both overall accuracies after each round of refinement, and the number of open items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from core.translation import gettext_noop as _
from review.study.compare import MOST_OPEN
from review.study.criteria import Patterns, made_patterns
from review.study.repeated import Adds, Clusters, Repeated, share_of
from review.study.statistics.intervals import Share
from review.study.types import Criterion, FinalScore, ItemPattern

GAIN_TEXT = _(
    "Both overall accuracies after each round. Triggered by experts: right at first or after any "
    "refinement so far. Triggered by the assessor: the newest draft that its flags led to. An item "
    "is open if its accuracy depends on a draft without a final score. With open items, the range "
    "over all scored items is shown first, with a value weighted by script (right or wrong) and "
    "verdict (flagged or passed). No point is drawn if more than 5% are open. Round 0 is the first "
    "draft. Reviewers score the refined script of round 1; later rounds have only imported scores."
)


@dataclass(frozen=True)
class Gain:
    """An overall accuracy after a round. `share` excludes the `open` items.

    `range` covers all possible results of the open items. `post_stratified` is the value weighted by script (right or
    wrong) and verdict (flagged or not). Both are None if no items are open.
    """

    share: Share
    open: int
    range: tuple[float, float] | None
    post_stratified: float | None

    @property
    def has_too_many_open(self) -> bool:
        """Return whether more than 5% of the items are open, which makes the share unreliable."""
        return self.open > MOST_OPEN * (self.open + self.share.denominator)

    def as_json(self) -> dict[str, object]:
        return {
            **self.share.as_json(),
            "open": self.open,
            "range": list(self.range) if self.range else None,
            "post_stratified": self.post_stratified,
            "too_many_open": self.has_too_many_open,
        }


@dataclass(frozen=True)
class GainRow:
    """Both accuracies after `round` refinements. `drafts` is the number of Drafts created in this round."""

    round: int
    drafts: int
    by_expert: Gain
    by_assessor: Gain

    def as_json(self) -> dict[str, object]:
        return {
            "round": self.round,
            "drafts": self.drafts,
            "by_expert": self.by_expert.as_json(),
            "by_assessor": self.by_assessor.as_json(),
            "pending_by_expert": self.by_expert.open,
            "pending_by_assessor": self.by_assessor.open,
        }


def tabulate_gain(
    patterns: Patterns, criterion: Criterion, clusters: Clusters | None = None
) -> list[GainRow]:
    """Return both overall accuracies after each round, from round 0 to the last round with Drafts."""
    scored = {
        pattern: times
        for pattern, times in made_patterns(patterns)
        if pattern.script.right(criterion) is not None
    }
    repeated = Repeated(clusters or {})
    last = max((len(_chain(pattern)) for pattern in scored), default=0)
    rows = []
    for round_ in range(max(last, 1) + 1):
        drafts = sum(
            times
            for pattern, times in scored.items()
            if round_ == 0 or len(_chain(pattern)) >= round_
        )
        rows.append(
            GainRow(
                round_,
                drafts,
                _gain(scored, _after(_by_expert, round_, criterion), criterion, repeated),
                _gain(scored, _after(_by_assessor, round_, criterion), criterion, repeated),
            )
        )
    return rows


def _gain(scored: Patterns, adds: Adds, criterion: Criterion, repeated: Repeated) -> Gain:
    share = share_of(scored, adds, repeated)
    every = sum(scored.values())
    is_open = every - share.denominator
    if not is_open:
        return Gain(share, 0, None, None)
    # The numbers of right, closed and all items, by script (right or wrong) and verdict (flagged or not).
    strata: dict[tuple[bool | None, bool], list[int]] = defaultdict(lambda: [0, 0, 0])
    for pattern, times in scored.items():
        found = adds(pattern)
        counts = strata[pattern.script.right(criterion), pattern.is_flagged]
        counts[0] += (found or 0) * times
        counts[1] += times * (found is not None)
        counts[2] += times
    value = None
    if all(closed for _right, closed, _all in strata.values()):
        value = sum(of / every * right / closed for right, closed, of in strata.values())
    ends = share.numerator / every, (share.numerator + is_open) / every
    return Gain(share, is_open, ends, value)


_Rule = Callable[[ItemPattern, tuple[FinalScore, ...], Criterion], bool | None]


def _after(rule: _Rule, round_: int, criterion: Criterion) -> Adds:
    """Return a function that computes an item's contribution after this many refinements.

    The contribution is None if the item is open or the script has no final score.
    """

    def adds(pattern: ItemPattern) -> int | None:
        if pattern.script.right(criterion) is None:
            return None
        found = rule(pattern, _chain(pattern)[:round_], criterion)
        return None if found is None else int(found)

    return adds


def _by_expert(
    pattern: ItemPattern, chain: tuple[FinalScore, ...], criterion: Criterion
) -> bool | None:
    """Return whether any Draft is right, or None if the result depends on a Draft without a final score."""
    found = [one.right(criterion) for one in (pattern.script, *chain)]
    return True if True in found else None if None in found else False


def _by_assessor(
    pattern: ItemPattern, chain: tuple[FinalScore, ...], criterion: Criterion
) -> bool | None:
    """Return whether the newest Draft that the assessor's flags triggered is right, or None without a final score."""
    newest = chain[-1] if pattern.is_flagged and chain else pattern.script
    return newest.right(criterion)


def _chain(pattern: ItemPattern) -> tuple[FinalScore, ...]:
    """Return the final scores of the refined Drafts, in round order."""
    return (pattern.refined, *pattern.later) if pattern.has_refined else ()
