"""Tests for agreement from counts, compared with the recount, two libraries and manual calculations."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from review.study import Agreement, GivenScore, Judged, Stage, agreement_of
from review.study.agreement import (
    MEAN_NOT_DRAWN,
    MEAN_OF_PAIRS,
    NO_PAIRS,
    NO_VARIATION,
    PAIR,
    Leaning,
    PairCells,
    StageCounts,
    Values,
    leanings_of,
    pairs_of,
    values_of,
)
from review.study.report import report_agreement
from review.study.statistics.bootstrap import FEW_STATEMENTS, OFTEN_UNDEFINED
from review.study.statistics.coefficients import gwet_of, ordinal_weights
from tests.review.study.drawn_items import exported
from tests.review.study.recount.agreement import agreement_of as recount
from tests.review.study.recount.comparison import Differences, check_agreement

Rows = Sequence[dict[int, int]]  # the values of each item, by reviewer


def counts_of(*statements: Rows, times: int = 1) -> StageCounts:
    """Return the counts of statements. Each statement is a list of its items' rows."""
    values: Counter[tuple[Values, ...]] = Counter()
    pairs: Counter[PairCells] = Counter()
    whole: Counter[tuple[PairCells, ...]] = Counter()
    leanings: Counter[Leaning] = Counter()
    for rows in statements:
        given = [tuple(sorted(row.items())) for row in rows]
        values[tuple(sorted(map(values_of, given)))] += times
        whole[tuple(sorted(pairs_of(given)))] += times
        for one in pairs_of(given):
            pairs[one] += times
        for other in leanings_of(given):
            leanings[other] += times
    return StageCounts(values, pairs, leanings, whole)


def agreement(rows: Rows) -> Agreement:
    """Return the agreement of items that each have a separate statement."""
    return agreement_of(counts_of(*([row] for row in rows)))


def near(found: float | None, expected: Fraction | float | None) -> bool:
    if found is None or expected is None:
        return found is None and expected is None
    return abs(found - float(expected)) < 1e-9


def drawn_rows(seed: int, items: int = 14) -> list[dict[int, int]]:
    """Return random items. Each has scores by a random subset of five reviewers, which may be empty."""
    source = random.Random(seed)
    return [
        {who: source.choice((0, 1, 2, 2)) for who in range(1, 6) if source.random() < 0.5}
        for _ in range(source.randint(0, items) if items < 20 else items)
    ]


@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(40), id="values"),
        # Each seed needs 20,000 samples of 40 statements for its intervals.
        pytest.param([-1, -2], marks=pytest.mark.slow, id="intervals"),
    ],
)
def test_agreement_of_drawn_scores_equals_the_recount(seeds: Sequence[int]) -> None:
    """Compare every coefficient for all reviewers and for each pair, and the leniency of each reviewer."""
    for seed in seeds:
        rows, found = drawn_rows(seed, 14 if seed >= 0 else 40), Differences()
        scores = [
            tuple(GivenScore(reviewer=who, stage=Stage.SCRIPT, value=value) for who, value in row)
            for row in map(dict.items, rows)
        ]
        ours = recount(exported([Judged(scores=given) for given in scores]), "script")
        names = {who: f"r{who}" for who in range(1, 6)}
        check_agreement(found, "script", ours, report_agreement(agreement(rows), names=names))
        assert not found.found, (seed, found.found)


def test_an_item_taken_away_equals_a_recount() -> None:
    for seed in range(20):
        rows, (other,) = drawn_rows(seed), drawn_rows(seed + 100, 40)[:1]
        counts, less = counts_of(*([row] for row in [*rows, other])), counts_of([other])
        for name in ("values", "pairs", "leanings"):
            getattr(counts, name).subtract(getattr(less, name))

        assert agreement_of(counts) == agreement(rows)


def test_alpha_is_that_of_the_krippendorff_package() -> None:
    for rows in map(drawn_rows, range(30)):
        table = np.array([[row.get(name, np.nan) for row in rows] for name in range(1, 6)])
        paired = {value for row in rows if len(row) > 1 for value in row.values()}
        if len(paired) < 2:
            continue
        found = agreement(rows)
        for level, alpha in (
            ("nominal", found.alpha_nominal),
            ("ordinal", found.krippendorff_alpha),
            ("interval", found.alpha_interval),
        ):
            expected = krippendorff.alpha(
                reliability_data=table, level_of_measurement=level, value_domain=[0, 1, 2]
            )
            assert alpha == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_kappas_are_those_of_scikit_learn() -> None:
    for seed in range(15):
        source = random.Random(seed)
        left, right = (source.choices((0, 1, 2), k=2 + seed) for _ in range(2))
        (pair,) = agreement([{1: a, 2: b} for a, b in zip(left, right, strict=True)]).pairs
        for weights, kappa in (
            (None, pair.cohen_kappa),
            ("linear", pair.linear_kappa),
            ("quadratic", pair.weighted_kappa),
        ):
            expected = cohen_kappa_score(left, right, labels=[0, 1, 2], weights=weights)
            assert kappa == pytest.approx(expected, abs=1e-9)


def test_without_two_scores_of_an_item_nothing_is_said() -> None:
    """Test no items, no scores, one reviewer, and two reviewers of different items."""
    cases: list[Rows] = [[], [{}, {}], [{1: 0}, {1: 2}], [{1: 0}, {2: 2}]]
    for rows in cases:
        found = agreement(rows)

        assert (found.items, found.percent, found.krippendorff_alpha) == (0, None, None), rows
        assert (found.undefined, found.pairs) == (NO_PAIRS, ())


def test_agreement_without_variation_is_percent_only() -> None:
    found = agreement([{1: 2, 2: 2}] * 5)

    assert (found.undefined, found.percent) == (NO_VARIATION, 1.0)
    assert (found.krippendorff_alpha, found.low, found.high, found.cohen_kappa) == (None,) * 4
    assert found.pairs[0].percent == 1.0
    assert found.pairs[0].strict_kappa is None
    found = agreement([{1: 0, 2: 2}])

    assert found.percent == 0
    assert found.krippendorff_alpha == 0
    assert found.cohen_kappa == 0


@pytest.mark.slow
def test_with_two_reviewers_the_kappa_is_theirs_and_with_three_a_mean_over_large_pairs() -> None:
    rows: list[dict[int, int]] = [{1: n % 3, 2: n % 2, 3: 2 - n % 3} for n in range(19)]
    few = agreement(rows)
    many = agreement([*rows, {1: 0, 2: 1}])
    two = agreement([{1: 0, 2: 0}, {1: 2, 2: 1}])

    assert (few.kappa_basis, few.cohen_kappa) == (MEAN_OF_PAIRS, None)
    assert [pair.items for pair in many.pairs] == [20, 19, 19]
    assert many.cohen_kappa == many.pairs[0].cohen_kappa
    assert (two.kappa_basis, two.cohen_kappa) == (PAIR, two.pairs[0].cohen_kappa)


@pytest.mark.slow
def test_the_interval_is_the_same_each_time_and_costs_no_more_for_a_million_items() -> None:
    rows = [{1: n % 3, 2: (n + n % 4) % 3} for n in range(60)]
    statements = [[row] for row in rows]
    once, again = agreement_of(counts_of(*statements)), agreement_of(counts_of(*statements))
    large = agreement_of(counts_of(*statements, times=20_000))

    assert once == again
    assert large.high - large.low < (once.high - once.low) / 50
    assert large.krippendorff_alpha == pytest.approx(once.krippendorff_alpha, abs=0.02)


@pytest.mark.slow
def test_items_of_one_statement_are_drawn_together() -> None:
    """Three items with equal scores count as one, so the interval is that of the statements."""
    rows = [{1: n % 3, 2: (n + n % 4) % 3} for n in range(60)]
    alone = agreement(rows)
    in_threes = agreement_of(counts_of(*([row] * 3 for row in rows)))

    assert in_threes.statements == 60
    for name in ("ac1", "percent", "krippendorff_alpha", "cohen_kappa"):
        assert in_threes.intervals[name] == pytest.approx(alone.intervals[name], abs=0.02), name


def test_missing_interval_has_a_reason() -> None:
    """One of forty items differs, so more than a third of the samples lack it."""
    found = agreement([{1: n % 3, 2: (n + n % 4) % 3} for n in range(19)])

    assert (found.low, found.high, found.no_interval) == (None, None, FEW_STATEMENTS)
    assert found.krippendorff_alpha is not None
    found = agreement([*[{1: 2, 2: 2}] * 39, {1: 2, 2: 1}])

    assert (found.low, found.no_interval) == (None, OFTEN_UNDEFINED)
    assert found.intervals["percent"] is not None
    assert found.intervals["ac1"] is not None


def test_gwet_coefficients_equal_the_published_examples_of_irrcac() -> None:
    """Use irrCAC's data sets cac.raw4raters (Gwet 2014, page 120, with missing ratings) and cont3x3abstractors.

    The documentation of irrCAC lists AC1 for both, and its Python port tests AC2 for the first with these weights.
    """
    raters = ("123321412___", "1233224125__", "_33323422513", "12332441251_")
    units = ["".join(unit).replace("_", "") for unit in zip(*raters, strict=True)]
    four = np.array([[unit.count(value) for value in "12345"] for unit in units], dtype=float)
    cells = {(0, 0): 13, (1, 1): 20, (1, 2): 7, (2, 1): 4, (2, 2): 56}
    three = np.array([np.eye(3)[a] + np.eye(3)[b] for a, b in cells])
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    wanted = {
        ("four", "identity"): (four, None, np.eye(5), 0.77544),
        ("four", "ordinal"): (four, None, ordinal_weights(5), 0.899),
        ("four", "linear"): (four, None, 1 - steps / 4, 0.859),
        ("four", "quadratic"): (four, None, 1 - steps**2 / 16, 0.914),
        ("three", "identity"): (three, list(cells.values()), np.eye(3), 0.8493305),
    }
    found = {
        name: gwet_of(sets, np.array([times or [1] * len(sets)], dtype=float), weights)[0]
        for name, (sets, times, weights, _value) in wanted.items()
    }
    assert found == {
        name: pytest.approx(value, abs=6e-4 if name[1] != "identity" else 6e-6)
        for name, (_sets, _times, _weights, value) in wanted.items()
    }
    third = Fraction(2, 3)
    assert ordinal_weights(3).ravel() == pytest.approx([1, third, 0, third, 1, third, 0, third, 1])
    # Calculated manually: adjacent scores agree by 2/3. Of the scores, 5/8 are 2, 2/8 are 1 and 1/8 are 0.
    chance = Fraction(17, 18) * (1 - Fraction(25 + 4 + 1, 64))
    rows = [{1: 2, 2: 2}, {1: 2, 2: 1}, {1: 2, 2: 0}, {1: 2, 2: 1}]
    observed = (1 + third + 0 + third) / 4
    assert near(agreement(rows).ac2, (observed - chance) / (1 - chance))


def test_ac1_stays_meaningful_where_one_value_dominates() -> None:
    """Both reviewers score 18 of 20 items right, and each scores one more right. Kappa is negative. AC1 is calculated
    manually."""
    found = agreement([*[{1: 2, 2: 2}] * 18, {1: 2, 2: 0}, {1: 0, 2: 2}])
    share = 38 / 40
    chance = 2 * share * (1 - share)

    assert found.cohen_kappa is not None
    assert found.cohen_kappa < 0
    assert found.ac1 == pytest.approx((0.9 - chance) / (1 - chance))


def test_fleiss_kappa_is_that_of_his_example_and_only_with_equal_numbers() -> None:
    """Ten items and three reviewers, calculated manually with Fleiss' formula."""
    rows: list[dict[int, int]] = [
        dict(enumerate(values))
        for values in ((0, 0, 0), (0, 0, 1), (2, 2, 2), (2, 2, 1), (1, 1, 1), (0, 2, 2), (2, 2, 2))
    ]
    agreeing = Fraction(0)
    totals: Counter[int] = Counter()
    for row in rows:
        counts = Counter(row.values())
        totals.update(counts)
        agreeing += Fraction(sum(n * (n - 1) for n in counts.values()), 6)
    chance = sum(Fraction(n, 21) ** 2 for n in totals.values())

    assert near(agreement(rows).fleiss_kappa, (agreeing / 7 - chance) / (1 - chance))
    assert agreement([*rows, {1: 2, 2: 2}]).fleiss_kappa is None


def test_leniency_is_mean_difference_from_the_others() -> None:
    found = agreement([{1: 2, 2: 1, 3: 0}, {1: 1, 2: 1}, {3: 2}])
    by_reviewer = {one.reviewer: (one.items, one.value) for one in found.leniency}

    assert by_reviewer[1] == (2, pytest.approx((1.5 + 0) / 2))
    assert by_reviewer[2] == (2, pytest.approx((0 + 0) / 2))
    assert by_reviewer[3] == (1, pytest.approx(-1.5))


@pytest.mark.slow
def test_a_mean_over_pairs_is_drawn_from_whole_statements() -> None:
    """Two pairs of reviewers score identically, so the mean is as uncertain as each pair."""
    rows: list[dict[int, int]] = [{1: n % 3, 2: (n + n % 4) % 3} for n in range(60)]
    alike = [{**row, 3: row[1], 4: row[2]} for row in rows]
    found = agreement(alike)
    across = next(pair for pair in found.pairs if (pair.a, pair.b) == (1, 2))

    assert found.kappa_basis == MEAN_OF_PAIRS and not found.no_interval
    for name in ("cohen_kappa", "linear_kappa", "weighted_kappa"):
        low, high = found.intervals[name] or (0, 0)
        of_pair = across.intervals[name] or [0, 0]
        # Four of the six pairs have the same kappa as this pair, and the other two always agree: (4 kappa + 2) / 6.
        assert [low, high] == pytest.approx([(4 * end + 2) / 6 for end in of_pair], abs=0.02)


@pytest.mark.slow
def test_a_draw_that_leaves_one_pair_without_variation_is_no_draw_of_their_mean() -> None:
    """The second pair differs on one of thirty items. A third of the samples lack this item, and so lack the pair's
    kappa."""
    rows: list[dict[int, int]] = [{1: n % 3, 2: (n + n % 4) % 3} for n in range(40)]
    found = agreement([*rows, *[{1: 2, 3: 2}] * 29, {1: 2, 3: 1}])

    assert found.cohen_kappa is not None and found.krippendorff_alpha is not None
    assert (found.intervals["cohen_kappa"], found.no_interval) == (None, OFTEN_UNDEFINED)
    # A pair whose kappa is never defined is excluded from the mean and its samples.
    assert agreement([*rows, *[{1: 2, 3: 2}] * 30]).intervals["cohen_kappa"]


def test_statements_that_say_nothing_of_the_pairs_do_not_make_up_their_number() -> None:
    """The only pair that counts has 30 shared items in ten statements."""
    counted = [[{1: n % 3, 2: (n + n % 4) % 3} for n in range(m, m + 3)] for m in range(10)]
    found = agreement_of(counts_of(*counted, *([{3: n % 3, 4: n % 2}] for n in range(15))))

    assert found.kappa_basis == MEAN_OF_PAIRS and found.statements == 25
    assert found.intervals["krippendorff_alpha"] is not None
    assert (found.intervals["cohen_kappa"], found.no_interval) == (None, FEW_STATEMENTS)


@pytest.mark.slow
def test_without_whole_statements_a_mean_over_pairs_has_no_interval_and_says_why() -> None:
    counts = counts_of(*([{1: n % 3, 2: (n + n % 4) % 3, 3: n % 2}] for n in range(60)))
    found = agreement_of(replace(counts, statements={}))

    assert found.cohen_kappa is not None
    assert found.intervals["cohen_kappa"] is None
    assert found.no_interval == MEAN_NOT_DRAWN
