"""The report's charts as shapes: ends of axes, order, widths, and what each shape says."""

from __future__ import annotations

import pytest

from review.report.charts.flow import HEIGHT, FlowCounts, FlowWords, draw_flow
from review.report.charts.forest import Estimate, draw_forest
from review.report.charts.heat import Pair, draw_heat, level_of
from review.report.charts.matrix import Counts, draw_matrix
from review.report.charts.scale import scale_of_differences, scale_of_shares
from review.report.charts.svg import write_marks

WORDS = FlowWords("right", "wrong", "stayed right", "broken", "fixed", "stayed wrong")


def test_shares_stand_on_an_axis_from_nothing_to_all() -> None:
    scale = scale_of_shares()
    assert [(tick.at, tick.label) for tick in scale.labels()] == [
        (0, "0 %"),
        (25, "25 %"),
        (50, "50 %"),
        (75, "75 %"),
        (100, "100 %"),
    ]
    assert scale.zero is None
    assert [scale.at(value) for value in (-1, 0.425, 2)] == [0, 42.5, 100]


@pytest.mark.parametrize(
    ("values", "end", "least"),
    [
        pytest.param([], 0.05, "−5 %", id="nothing known"),
        pytest.param([0.098, 0.04, None], 0.1, "−10 %", id="small"),
        pytest.param([-0.31], 0.5, "−50 %", id="below zero"),
        pytest.param([1.0, -0.2], 1.0, "−100 %", id="all"),
    ],
)
def test_differences_go_both_ways_alike(values: list[float | None], end: float, least: str) -> None:
    scale = scale_of_differences(values)
    assert (scale.low, scale.high, scale.zero) == (-end, end, 50)
    assert scale.labels()[0].label == least


def test_differences_of_scores_are_no_percents_and_may_be_two() -> None:
    scale = scale_of_differences([-1.4], is_share=False)
    assert [tick.label for tick in scale.labels()] == ["−2", "−1", "0", "1", "2"]


def test_a_forest_plot_keeps_the_order_and_leaves_out_what_has_no_value() -> None:
    rows = [
        (
            "first",
            "First-pass accuracy",
            [Estimate(1, "a: 42.5 %", 0.425, 0.349, 0.504), Estimate(5, "e: 50 %", 0.5)],
        ),
        ("recall", "Recall", [Estimate(1, "", None)]),
        ("broken", "Broken", [Estimate(2, "b: 30 %", 0.3, 0.1, 0.6, 0.05, 0.7)]),
    ]
    forest = draw_forest(rows, scale_of_shares())
    assert [row.key for row in forest.rows] == ["first", "broken"]
    above, below = forest.rows[0].marks
    assert (above.x, above.left, above.right, above.title) == (42.5, 34.9, 50.4, "a: 42.5 %")
    # Without an interval none is drawn; colours begin again after the fourth.
    assert (below.left, below.right, below.series) == (None, None, 1)
    assert above.y < below.y < forest.rows[0].height
    assert above.top >= 0 and below.top >= above.y
    (mark,) = forest.rows[1].marks
    assert (mark.outer_left, mark.outer_right) == (5, 70)
    assert forest.zero is None and bool(forest)
    assert not draw_forest([rows[1]], scale_of_shares())


def test_bounds_alone_are_drawn_without_a_mark() -> None:
    rows = [("overall", "Overall", [Estimate(1, "a: 20 to 40 %", None, least=0.2, most=0.4)])]
    (row,) = draw_forest(rows, scale_of_shares()).rows
    (mark,) = row.marks
    assert (mark.x, mark.outer_left, mark.outer_right) == (None, 20, 40)
    drawn = write_marks(row)
    assert "a: 20 to 40 %" in drawn and 'class="bounds" x1="20' in drawn and "<circle" not in drawn


def test_what_refinement_does_is_drawn_as_wide_as_its_share() -> None:
    flow = draw_flow(FlowCounts(survived=7, broken=3, fixed=18, still_wrong=20), WORDS)
    assert [bar.text for bar in flow.bars] == ["right 10", "wrong 38", "right 25", "wrong 23"]
    assert [band.kind for band in flow.bands] == ["survived", "broken", "fixed", "still-wrong"]
    assert (
        flow.label == "stayed right: 7 / 48, broken: 3 / 48, fixed: 18 / 48, stayed wrong: 20 / 48"
    )
    widths = {}
    for band in flow.bands:
        corners = [tuple(map(float, corner.split(","))) for corner in band.points.split()]
        widths[band.kind] = corners[3][1] - corners[0][1]
        assert all(0 <= y <= HEIGHT for _x, y in corners)
        # As wide at its end as at its beginning.
        assert corners[2][1] - corners[1][1] == pytest.approx(widths[band.kind], abs=0.02)
    assert widths["fixed"] / widths["broken"] == pytest.approx(6, rel=0.02)
    right, wrong = flow.bars[:2]
    assert right.y + right.height < wrong.y and wrong.y + wrong.height <= HEIGHT


def test_a_band_of_nothing_is_left_out_and_without_items_there_is_no_chart() -> None:
    flow = draw_flow(FlowCounts(0, 0, 2, 1), WORDS)
    assert [band.kind for band in flow.bands] == ["fixed", "still-wrong"]
    assert flow.bars[0].height == 1
    assert not draw_flow(FlowCounts(0, 0, 0, 0), WORDS)


@pytest.mark.parametrize(
    ("value", "level"),
    [(None, 0), (-0.2, 0), (0, 0), (0.01, 1), (0.2, 2), (0.59, 3), (0.6, 4), (0.8, 5), (1, 5)],
)
def test_a_higher_coefficient_is_darker(value: float | None, level: int) -> None:
    assert level_of(value) == level


def test_each_pair_stands_in_both_its_places() -> None:
    pairs = [Pair("anna", "boris", 0.7012, "anna and boris"), Pair("boris", "chiara", None, "b, c")]
    rows = draw_heat(["anna", "boris", "chiara"], pairs)
    cells = [[cell and (cell.text, cell.level) for cell in row.cells] for row in rows]
    assert cells == [
        [None, ("0.70", 4), ("", 0)],
        [("0.70", 4), None, ("–", 0)],
        [("", 0), ("–", 0), None],
    ]
    assert rows[0].cells[1] and rows[0].cells[1].title == "anna and boris"


def test_the_four_cells_are_shares_of_all() -> None:
    cells = draw_matrix(Counts(55, 50, 10, 38))
    assert [cell.count for cell in cells.values()] == [55, 50, 10, 38]
    assert sum(cell.share or 0 for cell in cells.values()) == pytest.approx(1)
    assert [cell.level for cell in cells.values()] == [3, 3, 1, 2]
    assert [name for name, cell in cells.items() if cell.agrees] == [
        "passed_right",
        "flagged_wrong",
    ]
    assert {cell.share for cell in draw_matrix(Counts(0, 0, 0, 0)).values()} == {None}
