"""What stands beside the figures: gain per round, retrieved items, the experts' feedback, its length, the assessor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from core.translation import gettext_noop as _
from pipeline.types import Verdict
from review.study.criteria import Patterns, made_patterns
from review.study.patterns import LENGTHS
from review.study.statistics.intervals import Difference, Share
from review.study.types import Criterion, ItemPattern, Origin, Standing

GAIN_TEXT = _(
    "Both overall accuracies after each round. Triggered by experts: right at first or after any refinement so "
    "far. Triggered by the assessor: the newest Draft of the chain that its flags led to. An item whose accuracy "
    "hangs on a Draft without a final score is left out, and listed as pending. Round 0 is the first Draft."
)
RETRIEVED_TEXT = _(
    "Items answered from the catalogue: right, of those scored. They enter no model figure."
)
EXPERT_TEXT = _(
    "Refined from an expert’s feedback against refined from the model’s, on the items whose refinement has a "
    "final score in both. Scores by the author of the feedback are left out unless it says otherwise."
)
LENGTH_TEXT = _(
    "Refined right, of the wrong first Drafts with the model’s feedback, by its number of words. Without a "
    "refined Draft it is not corrected; one that has no final score yet is left out."
)
CARD_TEXT = _(
    "What experts say of the scripts that the assessor passed, flagged, could not judge or never saw. Read the "
    "recall of wrong scripts first: what it misses looks like a verified script."
)
SKIPPED_TEXT = _(
    "First-pass accuracy if every item that was skipped and has no final score were right, or wrong."
)


@dataclass(frozen=True)
class GainRow:
    """The state of things after `round` refinements; `drafts` were made in this round."""

    round: int
    drafts: int
    by_expert: Share
    by_assessor: Share
    pending_by_expert: int
    pending_by_assessor: int


@dataclass(frozen=True)
class ExpertRow:
    """The experts' feedback and the model's, paired."""

    expert: Share
    model: Share
    change: Difference  # from the model's to the expert's


@dataclass(frozen=True)
class LengthRow:
    """Feedback of `least` to `most` words; None for no upper end."""

    least: int
    most: int | None
    fixed: Share
    unscored: int


@dataclass(frozen=True)
class AssessorCard:
    """Counts of scored items by verdict (None was never assessed), right and wrong."""

    right: dict[Verdict | None, int]
    wrong: dict[Verdict | None, int]

    @property
    def missed(self) -> Share:
        """The share of wrong scripts that the assessor passed, of those it judged correct or incorrect."""
        passed, flagged = self.wrong[Verdict.CORRECT], self.wrong[Verdict.INCORRECT]
        return Share.of(passed, passed + flagged)

    @property
    def false_alarms(self) -> Share:
        """The share of right scripts that it flagged, of those it judged correct or incorrect."""
        passed, flagged = self.right[Verdict.CORRECT], self.right[Verdict.INCORRECT]
        return Share.of(flagged, passed + flagged)


def tabulate_gain(patterns: Patterns, criterion: Criterion) -> list[GainRow]:
    """Both overall accuracies after round 0, 1 and on, as far as Drafts were made."""
    scored = [
        (pattern, chain, times)
        for pattern, times in made_patterns(patterns)
        if pattern.script.right(criterion) is not None
        for chain in (_chain(pattern),)
    ]
    last = max((len(chain) for _pattern, chain, _times in scored), default=0)
    rows = []
    for round_ in range(max(last, 1) + 1):
        drafts = 0
        expert: Counter[bool | None] = Counter()
        assessor: Counter[bool | None] = Counter()
        for pattern, chain, times in scored:
            drafts += times * (round_ == 0 or len(chain) >= round_)
            expert[_by_expert(pattern, chain[:round_], criterion)] += times
            assessor[_by_assessor(pattern, chain[:round_], criterion)] += times
        rows.append(
            GainRow(round_, drafts, _part(expert), _part(assessor), expert[None], assessor[None])
        )
    return rows


def tabulate_retrieved(patterns: Patterns, criterion: Criterion) -> Share:
    """Right, of the scored items whose first Draft came from the catalogue."""
    retrieved = {key: n for key, n in patterns.items() if key.origin is Origin.RETRIEVED}
    return _share(retrieved, lambda pattern: pattern.script.right(criterion))


def tabulate_expert(
    patterns: Patterns, criterion: Criterion, *, with_authors: bool = False
) -> ExpertRow:
    """Refinements from experts' feedback beside the model's, on items that have both."""
    cells: Counter[tuple[bool, bool]] = Counter()
    for pattern, times in made_patterns(patterns):
        model = pattern.refined.right(criterion)
        standing = pattern.expert_by_all if with_authors else pattern.expert
        expert = standing.right(criterion)
        if model is not None and expert is not None:
            cells[model, expert] += times
    both, lost, gained = cells[True, True], cells[True, False], cells[False, True]
    change = Difference.of(both=both, lost=lost, gained=gained, neither=cells[False, False])
    return ExpertRow(
        Share.of(both + gained, change.items), Share.of(both + lost, change.items), change
    )


def tabulate_lengths(patterns: Patterns, criterion: Criterion) -> list[LengthRow]:
    """How often a wrong first Draft was corrected, by the length of the feedback."""
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
        LengthRow(least, most, Share.of(fixed[place], items[place]), unscored[place])
        for place, (least, most) in enumerate(zip(starts, ends, strict=True))
    ]


def draw_up_card(patterns: Patterns, criterion: Criterion) -> AssessorCard:
    """The confusion matrix of the assessor against the experts."""
    verdicts = (*Verdict, None)
    right: dict[Verdict | None, int] = dict.fromkeys(verdicts, 0)
    wrong = dict(right)
    for pattern, times in made_patterns(patterns):
        is_right = pattern.script.right(criterion)
        if is_right is not None:
            (right if is_right else wrong)[pattern.verdict] += times
    return AssessorCard(right, wrong)


def bound_skipped(patterns: Patterns, criterion: Criterion) -> tuple[Share, Share]:
    """First-pass accuracy with what was skipped taken as wrong, and as right."""

    def part(pattern: ItemPattern, skipped: bool) -> bool | None:
        right = pattern.script.right(criterion)
        return skipped if right is None and pattern.was_skipped else right

    made = dict(made_patterns(patterns))
    return (
        _share(made, lambda pattern: part(pattern, False)),
        _share(made, lambda pattern: part(pattern, True)),
    )


def _by_expert(
    pattern: ItemPattern, chain: tuple[Standing, ...], criterion: Criterion
) -> bool | None:
    """Right at first or after a refinement of these; None where that hangs on one without a final score."""
    found = [one.right(criterion) for one in (pattern.script, *chain)]
    return True if True in found else None if None in found else False


def _by_assessor(
    pattern: ItemPattern, chain: tuple[Standing, ...], criterion: Criterion
) -> bool | None:
    """Whether the newest Draft is right that the flags led to; None where it has no final score."""
    newest = chain[-1] if pattern.is_flagged and chain else pattern.script
    return newest.right(criterion)


def _part(counts: Counter[bool | None]) -> Share:
    return Share.of(counts[True], counts[True] + counts[False])


def _chain(pattern: ItemPattern) -> tuple[Standing, ...]:
    """The final scores of the refined Drafts, in order of rounds."""
    return (pattern.refined, *pattern.later) if pattern.has_refined else ()


def _share(patterns: Patterns, part: Callable[[ItemPattern], bool | None]) -> Share:
    right = sum(times for pattern, times in patterns.items() if part(pattern))
    return Share.of(
        right, sum(times for pattern, times in patterns.items() if part(pattern) is not None)
    )
