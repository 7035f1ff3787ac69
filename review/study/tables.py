"""Additional tables of a report: retrieved items, experts' feedback, feedback length and the assessor."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from core.translation import gettext_noop as _
from pipeline.types import Verdict
from review.study.criteria import Patterns, made_patterns
from review.study.patterns import LENGTHS
from review.study.repeated import (
    NOT_KEPT,
    Adds,
    Clusters,
    Repeated,
    is_made,
    is_retrieved,
    share_of,
)
from review.study.statistics.intervals import Cluster, Difference, Share
from review.study.types import Criterion, ItemPattern

RETRIEVED_TEXT = _(
    "Right items as a share of the scored items that were answered from the catalogue. These items are "
    "excluded from all model figures."
)
EXPERT_TEXT = _(
    "Refinement from an expert’s feedback compared with refinement from the model’s, on "
    "items whose refined scripts both have a final score. Scores by the author of the "
    "feedback are left out unless stated otherwise."
)
LENGTH_TEXT = _(
    "Items that are right after refinement, as a share of the wrong first drafts with "
    "feedback by the model, by the number of words of the feedback. A first draft without "
    "a refined script is not corrected. A refined script without a final score is left out."
)
CARD_TEXT = _(
    "The experts’ scores of scripts that the assessor passed, flagged, could not judge or "
    "never assessed. Read the recall first, because a wrong script that the assessor "
    "misses looks like a correct one."
)
SKIPPED_TEXT = _("First-pass accuracy if all items that are still skipped were right or wrong.")


@dataclass(frozen=True)
class ExpertRow:
    """A paired comparison of refinements from experts' feedback and from the model's feedback."""

    expert: Share
    model: Share
    change: Difference  # from the model's refinements to the experts'


@dataclass(frozen=True)
class LengthRow:
    """Results for feedback of `least` to `most` words. The last row has no `most`."""

    least: int
    most: int | None
    fixed: Share
    unscored: int


@dataclass(frozen=True)
class AssessorCard:
    """The numbers of right and wrong scored items by verdict. The verdict None means never assessed.

    `missed` is the share of wrong scripts that the assessor passed. `false_alarms` is the share of right scripts that
    the assessor flagged. Both include only scripts that were passed or flagged.
    """

    right: dict[Verdict | None, int]
    wrong: dict[Verdict | None, int]
    missed: Share
    false_alarms: Share


def tabulate_retrieved(
    patterns: Patterns, criterion: Criterion, clusters: Clusters | None = None
) -> Share:
    """Return the share of right scripts among the scored items that were answered from the catalogue."""
    retrieved = {key: n for key, n in patterns.items() if is_retrieved(key)}
    repeated = Repeated(clusters or {}, is_about=is_retrieved)
    return share_of(retrieved, lambda pattern: _number(pattern.script.right(criterion)), repeated)


def tabulate_expert(
    patterns: Patterns,
    criterion: Criterion,
    clusters: Clusters | None = None,
    *,
    with_authors: bool = False,
) -> ExpertRow:
    """Compare refinements from experts' feedback and from the model's feedback, on items that have both."""

    def both(pattern: ItemPattern) -> tuple[bool, bool] | None:
        model = pattern.refined.right(criterion)
        expert = (pattern.expert_by_all if with_authors else pattern.expert).right(criterion)
        return None if model is None or expert is None else (model, expert)

    def adds(place: int) -> Adds:
        return lambda pattern: None if (pair := both(pattern)) is None else int(pair[place])

    def moves(pattern: ItemPattern) -> int | None:
        return None if (pair := both(pattern)) is None else pair[1] - pair[0]

    made = dict(made_patterns(patterns))
    cells: Counter[tuple[bool, bool]] = Counter()
    for pattern, times in made.items():
        if (pair := both(pattern)) is not None:
            cells[pair] += times
    right, lost, gained, neither = (
        cells[pair] for pair in ((True, True), (True, False), (False, True), (False, False))
    )
    repeated = Repeated(clusters or {})
    every: list[Cluster] | None = None
    if repeated:
        several = repeated.of(moves)
        # The numbers of statements with one item, by contribution.
        alone = Counter({1: gained, -1: lost, 0: right + neither})
        for key, times in (clusters or {}).items():
            own = [found for one in key if is_made(one) and (found := moves(one)) is not None]
            if sum(map(is_made, key)) > 1:
                alone.subtract({step: times * own.count(step) for step in (1, -1, 0)})
        every = [*several, *((step, 1, times) for step, times in alone.items())]
    change = Difference.of(both=right, lost=lost, gained=gained, neither=neither, clusters=every)
    return ExpertRow(share_of(made, adds(1), repeated), share_of(made, adds(0), repeated), change)


def tabulate_lengths(
    patterns: Patterns, criterion: Criterion, clusters: Clusters | None = None
) -> list[LengthRow]:
    """Return the shares of wrong first Drafts that were corrected, by length of the feedback.

    If statements repeat, intervals are omitted, because clusters do not contain the length of the feedback.
    """
    fixed: Counter[int] = Counter()
    items: Counter[int] = Counter()
    unscored: Counter[int] = Counter()
    for pattern, times in made_patterns(patterns):
        if pattern.script.right(criterion) is False and pattern.length is not None:
            right = pattern.refined.right(criterion)
            is_open = right is None and pattern.has_refined
            items[pattern.length] += times * (not is_open)
            fixed[pattern.length] += times * bool(right)
            unscored[pattern.length] += times * is_open
    ends: tuple[int | None, ...] = (*LENGTHS, None)
    starts = (0, *(most + 1 for most in LENGTHS))
    return [
        LengthRow(
            least,
            most,
            _without_interval(Share.of(fixed[place], items[place]), clusters),
            unscored[place],
        )
        for place, (least, most) in enumerate(zip(starts, ends, strict=True))
    ]


def draw_up_card(
    patterns: Patterns, criterion: Criterion, clusters: Clusters | None = None
) -> AssessorCard:
    """Return the confusion matrix of the assessor's verdicts and the experts' scores."""
    verdicts = (*Verdict, None)
    right: dict[Verdict | None, int] = dict.fromkeys(verdicts, 0)
    wrong = dict(right)
    made = dict(made_patterns(patterns))
    for pattern, times in made.items():
        is_right = pattern.script.right(criterion)
        if is_right is not None:
            (right if is_right else wrong)[pattern.verdict] += times

    def says(verdict: Verdict, *, of_right: bool) -> Adds:
        def adds(pattern: ItemPattern) -> int | None:
            is_judged = pattern.verdict in (Verdict.CORRECT, Verdict.INCORRECT)
            is_one = is_judged and pattern.script.right(criterion) is of_right
            return int(pattern.verdict is verdict) if is_one else None

        return adds

    repeated = Repeated(clusters or {})
    return AssessorCard(
        right,
        wrong,
        share_of(made, says(Verdict.CORRECT, of_right=False), repeated),
        share_of(made, says(Verdict.INCORRECT, of_right=True), repeated),
    )


def bound_skipped(
    patterns: Patterns, criterion: Criterion, clusters: Clusters | None = None
) -> tuple[Share, Share]:
    """Return first-pass accuracy if all skipped items were wrong, and if they were right.

    If statements repeat, intervals are omitted, because clusters do not show which items were skipped.
    """

    def part(pattern: ItemPattern, skipped: bool) -> int | None:
        right = pattern.script.right(criterion)
        return _number(skipped if right is None and pattern.was_skipped else right)

    made = dict(made_patterns(patterns))
    at_worst, at_best = (
        share_of(made, lambda pattern, end=end: part(pattern, end), None)  # type: ignore[misc]
        for end in (False, True)
    )
    return _without_interval(at_worst, clusters), _without_interval(at_best, clusters)


def _without_interval(share: Share, clusters: Clusters | None) -> Share:
    return share.without_interval(NOT_KEPT) if Repeated(clusters or {}) else share


def _number(right: bool | None) -> int | None:
    return None if right is None else int(right)
