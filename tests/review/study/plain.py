"""The study's definitions once more, slow and plain: item by item, in the order of the written rules.

Nothing of the package under test is used but its types.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product

from hypothesis import strategies as st

from pipeline.types import Arm, Verdict
from review.study import Criterion, GivenScore, Judged, Stage
from review.study.types import Origin, Recommended

OPEN, ABSENT = "open", "absent"
Final = bool | str | None  # right or wrong, open, absent; None where nobody has scored it


def gave(item: Judged, stage: Stage) -> dict[int, int]:
    """Each reviewer's value of a stage."""
    return {score.reviewer: score.value for score in item.scores if score.stage is stage}


def has_opened(item: Judged, value: int) -> bool:
    return value < 2 or (item.verdict == "incorrect" and item.has_refined)


def is_done(item: Judged, stage: Stage) -> bool:
    """Whether all are through with a stage who were asked for it."""
    if item.wanted < 2:
        return True
    script = gave(item, Stage.SCRIPT)
    if len(script) < item.wanted:
        return False
    if stage is Stage.SCRIPT:
        return True
    asked = {who for who, value in script.items() if has_opened(item, value)}
    values = gave(item, stage)
    return asked <= values.keys() and len(values) >= min(2, len(asked), item.wanted)


def final(item: Judged, stage: Stage, criterion: Criterion) -> Final:
    if item.origin is Origin.FAILED:
        return False if stage is Stage.SCRIPT else ABSENT
    if item.is_same and item.has_refined and stage is Stage.REFINED:
        found = final(item, Stage.SCRIPT, criterion)
        return OPEN if found is None else found
    least = 2 if criterion is Criterion.STRICT else 1
    if (stage, Arm.MODEL) in item.adjudicated:
        return item.adjudicated[stage, Arm.MODEL] >= least
    values = list(gave(item, stage).values())
    if not values:
        exists = item.has_feedback if stage is Stage.FEEDBACK else item.has_refined
        return None if stage is Stage.SCRIPT else OPEN if exists else ABSENT
    right = sum(value >= least for value in values)
    wrong = len(values) - right
    if right == wrong or not is_done(item, stage):
        return OPEN
    return right > wrong


def plain_items(items: Sequence[Judged]) -> list[Judged]:
    return [item for item in items if item.is_real and item.origin is not Origin.RETRIEVED]


def ways(found: Final) -> tuple[bool | None, ...]:
    if isinstance(found, bool):
        return (found,)
    return (None,) if found == ABSENT else (True, False)


def adds(
    name: str, item: Judged, script: bool, feedback: bool | None, refined: bool | None, other: bool
) -> int | None:
    """What an item that ended so adds to a figure, as the table of figures says it; None for nothing at all."""
    flagged, failed = item.verdict == "incorrect", item.origin is Origin.FAILED
    assessed = item.verdict is not None
    fixed = flagged and not script and refined is True
    broken = flagged and script and refined is False
    advised = {
        Recommended.FIRST: script,
        Recommended.REFINED: refined is True,
        Recommended.OTHER: other,
        Recommended.NONE: False if failed else None,
    }
    after = refined if flagged and refined is not None else script
    found: dict[str, bool | int | None] = {
        "first_pass_accuracy": script,
        "assessor_agreement": flagged != script
        if item.verdict in ("correct", "incorrect")
        else None,
        "assessor_recall": flagged if assessed and not script else None,
        "assessor_precision": not script if flagged else None,
        "feedback_useful": feedback if not script and not failed else None,
        "model_correction": refined is True if not script and feedback else None,
        "overall_expert_triggered": script or refined is True,
        "overall_assessor_triggered": after,
        "overall_as_recommended": advised[item.recommended],
        "fixed": fixed if flagged and not script else None,
        "broken": broken if flagged and script else None,
        "net": int(fixed) - int(broken),
        "execution_agreement": None if item.execution is None else script == (item.execution == 1),
    }
    one = found[name]
    return None if one is None else int(one)


def contributions(name: str, item: Judged, criterion: Criterion) -> set[int | None]:
    """All that an item can still add."""
    script = final(item, Stage.SCRIPT, criterion)
    others = (True, False) if item.recommended is Recommended.OTHER else (False,)
    return {
        adds(name, item, bool(right), feedback, refined, other)
        for right in ways(script)
        for feedback in ways(final(item, Stage.FEEDBACK, criterion))
        for refined in (
            [bool(right)]
            if item.is_same and item.has_refined and item.origin is not Origin.FAILED
            else ways(final(item, Stage.REFINED, criterion))
        )
        for other in others
    }


def plain_figure(name: str, items: Sequence[Judged], criterion: Criterion) -> tuple[int, int]:
    """Numerator and denominator: of the items whose script has a final score and that have ended."""
    numerator = denominator = 0
    for item in items:
        if isinstance(final(item, Stage.SCRIPT, criterion), bool):
            found = contributions(name, item, criterion)
            if len(found) == 1 and None not in found:
                numerator += found.pop() or 0
                denominator += 1
    return numerator, denominator


def every_share(name: str, items: Sequence[Judged], criterion: Criterion) -> list[Fraction]:
    """The figure at every way in which all that is open can end, where it then has a value."""
    found = [contributions(name, item, criterion) for item in items]
    shares = []
    for ends in product(*(one for one in found if one)):
        counted = [one for one in ends if one is not None]
        if counted:
            shares.append(Fraction(sum(counted), len(counted)))
    return shares


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
        wanted=draw(st.sampled_from((1, 1, 2, 3))),
        origin=draw(st.sampled_from((Origin.MADE,) * 4 + tuple(Origin))),
        has_feedback=draw(st.booleans()),
        has_refined=draw(st.booleans()),
        is_same=draw(st.sampled_from((False, False, False, True))),
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
