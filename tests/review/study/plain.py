"""The study's definitions once more, slow and plain: item by item, in the order of the written rules.

Nothing of the package under test is used but its types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from hypothesis import strategies as st

from pipeline.types import Arm, Verdict
from review.study import Criterion, GivenScore, Judged, Stage
from review.study.types import Origin, Recommended

UNRESOLVED = "unresolved"
PENDING = "pending"
Final = int | str | None


@dataclass
class Plain:
    """An item with its final scores: a value, unresolved, pending, or None for not scored."""

    script: Final
    feedback: Final
    refined: Final
    item: Judged

    def right(self, stage: Final, criterion: Criterion) -> bool | None:
        if not isinstance(stage, int):
            return None
        return stage == 2 if criterion is Criterion.STRICT else stage in (1, 2)

    def settle(self, value: int) -> Plain:
        finals = (self.script, self.feedback, self.refined)
        return Plain(*(value if one == UNRESOLVED else one for one in finals), item=self.item)


def final(item: Judged, stage: Stage) -> Final:
    if stage is Stage.SCRIPT and item.origin is Origin.FAILED:
        return 0
    if (stage, Arm.MODEL) in item.adjudicated:
        return item.adjudicated[stage, Arm.MODEL]
    values = sorted(score.value for score in item.scores if score.stage is stage)
    if not values:
        return None
    if not item.is_complete:
        return PENDING
    for value in (0, 1, 2):
        if values.count(value) > len(values) - values.count(value):
            return value
    lower, upper = values[(len(values) - 1) // 2], values[len(values) // 2]
    middle = Fraction(lower + upper, 2)
    return int(middle) if middle in values else UNRESOLVED


def plain_items(items: Sequence[Judged]) -> list[Plain]:
    return [
        Plain(*(final(item, stage) for stage in Stage), item=item)
        for item in items
        if item.is_real and item.origin is not Origin.RETRIEVED
    ]


def exists(one: Plain) -> bool:
    return one.item.has_refined or one.refined is not None


def plain_figure(name: str, ones: list[Plain], criterion: Criterion) -> tuple[int, int]:
    """Numerator and denominator as the table of figures says them."""

    def script(one: Plain) -> bool | None:
        return one.right(one.script, criterion)

    def refined(one: Plain) -> bool | None:
        return one.right(one.refined, criterion)

    def feedback(one: Plain) -> bool | None:
        return one.right(one.feedback, criterion)

    scored = [one for one in ones if script(one) is not None]
    right = [one for one in scored if script(one)]
    wrong = [one for one in scored if not script(one)]
    flagged = [one for one in scored if one.item.verdict == "incorrect"]
    passed = [one for one in scored if one.item.verdict == "correct"]
    flagged_wrong = [one for one in flagged if one in wrong]
    flagged_right = [one for one in flagged if one in right]
    fixed = sum(refined(one) is True for one in flagged_wrong)
    broken = sum(refined(one) is False for one in flagged_right)

    def assessor(one: Plain) -> bool:
        return (refined(one) if one in flagged and exists(one) else script(one)) is True

    recommended = {
        Recommended.FIRST: lambda one: script(one) is True,
        Recommended.REFINED: lambda one: refined(one) is True,
        Recommended.OTHER: lambda one: False,
        Recommended.NONE: lambda one: False,
    }
    advised = [
        one
        for one in scored
        if one.item.recommended is not Recommended.NONE or one.item.origin is Origin.FAILED
    ]
    useful = [one for one in wrong if feedback(one) is not None and one.item.origin != "failed"]
    helped = [one for one in wrong if feedback(one)]
    executed = [one for one in scored if one.item.execution is not None]
    return {
        "first_pass_accuracy": (len(right), len(scored)),
        "assessor_agreement": (
            len([one for one in passed if one in right]) + len(flagged_wrong),
            len(passed) + len(flagged),
        ),
        "assessor_recall": (
            len(flagged_wrong),
            len([one for one in wrong if one.item.verdict is not None]),
        ),
        "assessor_precision": (len(flagged_wrong), len(flagged)),
        "feedback_useful": (sum(feedback(one) is True for one in useful), len(useful)),
        "model_correction": (sum(refined(one) is True for one in helped), len(helped)),
        "overall_expert_triggered": (
            len(right) + sum(refined(one) is True for one in wrong),
            len(scored),
        ),
        "overall_assessor_triggered": (sum(map(assessor, scored)), len(scored)),
        "overall_as_recommended": (
            sum(recommended[one.item.recommended](one) for one in advised),
            len(advised),
        ),
        "fixed": (fixed, len(flagged_wrong)),
        "broken": (broken, len(flagged_right)),
        "net": (fixed - broken, len(scored)),
        "execution_agreement": (
            sum(script(one) is (one.item.execution == 1) for one in executed),
            len(executed),
        ),
    }[name]


# --- Agreement ----------------------------------------------------------------------------------------------------

Rows = Sequence[dict[int, int]]  # of each item, the value by reviewer


def plain_percent(rows: Rows) -> Fraction | None:
    pairs = [
        (one, other)
        for row in rows
        for place, one in enumerate(row.values())
        for other in list(row.values())[place + 1 :]
    ]
    return Fraction(sum(one == other for one, other in pairs), len(pairs)) if pairs else None


def plain_kappa(
    pairs: Sequence[tuple[int, int]], penalty: Callable[[int, int], int]
) -> Fraction | None:
    """1 less the mean penalty over the mean penalty of all pairings of one's values with the other's."""
    n = len(pairs)
    if not n:
        return None
    observed = Fraction(sum(penalty(a, b) for a, b in pairs), n)
    expected = Fraction(sum(penalty(a, b) for a, _b in pairs for _a, b in pairs), n * n)
    return 1 - observed / expected if expected else None


def plain_alpha(rows: Rows, metric: str) -> Fraction | None:
    """By all pairs of values within items, and all pairs of values there are (Krippendorff's definition)."""
    kept = [list(row.values()) for row in rows if len(row) > 1]
    values = [value for row in kept for value in row]
    counts = Counter(values)

    def distance(one: int, other: int) -> Fraction:
        if metric == "nominal":
            return Fraction(one != other)
        if metric == "interval":
            return Fraction((one - other) ** 2)
        low, high = sorted((one, other))
        between = sum(counts[value] for value in range(low, high + 1))
        return (between - Fraction(counts[low] + counts[high], 2)) ** 2

    within = sum(
        (distance(a, b) / (len(row) - 1) for row in kept for a, b in permutations(row, 2)),
        Fraction(0),
    )
    across = sum(
        (
            distance(a, b) * times * (other - (a == b))
            for a, times in counts.items()
            for b, other in counts.items()
        ),
        Fraction(0),
    )
    if not across:
        return None
    return 1 - (within / len(values)) / (across / (len(values) * (len(values) - 1)))


# --- Made items ---------------------------------------------------------------------------------------------------


@st.composite
def judged_items(draw: st.DrawFn) -> Judged:
    """Any item: unknown verdicts, empty scores, several reviewers, unresolved, failed, retrieved, gold."""
    reviewers = draw(st.integers(0, 4))
    scores = [
        GivenScore(reviewer=reviewer, stage=stage, value=value)
        for reviewer in range(reviewers)
        for stage in Stage
        if (value := draw(st.sampled_from((0, 1, 2, None)))) is not None
    ]
    adjudicated = {
        (stage, Arm.MODEL): value
        for stage in Stage
        if (value := draw(st.sampled_from((None, None, None, 0, 1, 2)))) is not None
    }
    return Judged(
        scores=tuple(scores),
        adjudicated=adjudicated,
        verdict=draw(st.sampled_from((*Verdict, Verdict.INCORRECT, None))),
        is_real=draw(st.sampled_from((True,) * 9 + (False,))),
        is_complete=draw(st.sampled_from((True, True, True, False))),
        origin=draw(st.sampled_from((Origin.MADE,) * 4 + tuple(Origin))),
        has_refined=draw(st.booleans()),
        recommended=draw(st.sampled_from(Recommended)),
        execution=draw(st.sampled_from((None, 0.0, 0.5, 1.0))),
        execution_reason=draw(st.sampled_from(("", "too_strict", "other"))),
        feedback_words=draw(st.sampled_from((None, 5, 50, 500))),
    )


def rows_of_scores(most: int = 5) -> st.SearchStrategy[list[dict[int, int]]]:
    """Items with scores of any subset of reviewers, none among them."""
    return st.lists(
        st.dictionaries(st.integers(1, most), st.integers(0, 2), max_size=most), max_size=25
    )
