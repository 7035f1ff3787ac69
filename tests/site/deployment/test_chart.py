"""Tests for the geometry of charts: stacked bars, lines with intervals, and round values on the axis."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from scriptsmith_site.presentation.chart import Chart, Column, Line, Point, draw_lines, stack_bars


def say(value: float) -> str:
    return f"{value:g}"


def bars(*values: tuple[float, ...], series: tuple[str, ...] = ("a", "b")) -> Chart:
    columns = [Column(f"c{number}", value) for number, value in enumerate(values)]
    return stack_bars(columns, series=series, say=say)


def test_scale_has_round_values_up_to_the_highest() -> None:
    for most, labels in (
        (0, "0 1"),
        (3, "0 1 2 3"),
        (7, "0 2 4 6 8"),
        (101, "0 50 100 150"),
        (0.0025, "0 0.0005 0.001 0.0015 0.002 0.0025"),
        (1e6, "0 200000 400000 600000 800000 1e+06"),
    ):
        chart = bars((most,), series=("a",))
        assert " ".join(tick.label for tick in chart.ticks) == labels
        assert chart.ticks[0].y == chart.floor
        assert [tick.y for tick in chart.ticks] == sorted((t.y for t in chart.ticks), reverse=True)


def test_the_parts_of_a_bar_stand_on_each_other_and_the_first_on_the_floor() -> None:
    low, high = bars((10, 30)).segments

    assert low.y + low.height == pytest.approx(high.y + high.height + low.height) == 176
    assert high.height == pytest.approx(3 * low.height, abs=0.05)
    assert (low.x, low.width) == (high.x, high.width) == (15, 70)
    assert (low.title, high.title) == ("c0: a, 10", "c0: b, 30")


def test_bars_share_the_width_and_never_leave_it() -> None:
    segments = bars(*[(1.0, 2.0)] * 30).segments

    assert all(one.x >= 0 and one.x + one.width <= 100 for one in segments)
    firsts = [one for one in segments if one.series == 1]
    assert all(old.x + old.width < new.x for old, new in zip(firsts, firsts[1:], strict=False))


def test_empty_values_are_not_drawn() -> None:
    assert len(bars((0.0, 0.0)).segments) == len(bars().segments) == 0
    assert len(bars((0.0, 1.0)).segments) == 1


def test_chart_has_no_more_labels_than_fit() -> None:
    for count in (1, 12, 13, 31, 100):
        labels = bars(*[(1.0, 1.0)] * count).labels
        assert 0 < len(labels) <= 12, count
        assert labels[0].text == "c0" and not labels[0].minor
        assert sum(not label.minor for label in labels) <= 4, count


def test_too_many_values_are_refused() -> None:
    for values, series in (((1, 1, 1, 1, 1), tuple("abcde")), ((1, 1, 1), ("a", "b"))):
        with pytest.raises(ValueError, match="series"):
            bars(values, series=series)
    two_points = [Line("A", [Point(1), Point(2)])]
    for lines in ([Line(name, [Point(1)]) for name in "abcde"], two_points):
        with pytest.raises(ValueError, match="line"):
            draw_lines(lines, places=["x"], say=say)


def test_a_line_has_a_gap_where_nothing_is_known() -> None:
    points = [Point(0.2), Point(0.4), None, Point(0.6), Point(0.8)]
    chart = draw_lines([Line("A", points)], places=list("vwxyz"), say=say, most=1)

    assert len(chart.dots) == 4
    assert [(stroke.x1, stroke.x2) for stroke in chart.strokes] == [(10, 30), (70, 90)]


def test_an_interval_reaches_from_its_low_to_its_high_end() -> None:
    chart = draw_lines(
        [Line("A", [Point(0.5, 0.25, 0.75)]), Line("B", [Point(0.5)])],
        places=["x"],
        say=say,
        most=1,
    )

    with_interval, without = chart.dots
    assert with_interval.low is not None and with_interval.high is not None
    assert with_interval.low > with_interval.y > with_interval.high, "up is less"
    assert with_interval.title == "A, x: 0.5 (0.25 to 0.75)"
    assert (without.low, without.high, without.title) == (None, None, "B, x: 0.5")


def test_the_scale_of_lines_has_room_for_their_intervals() -> None:
    chart = draw_lines([Line("A", [Point(1, 0, 9)])], places=["x"], say=say)

    assert chart.ticks[-1].label == "10"


def test_the_markup_holds_text_as_text_and_numbers_as_numbers() -> None:
    template = Template(
        "{% load charts %}{% bar_chart columns series 'money' label %}"
        "{% line_chart lines places 'share' label most=1 %}"
    )
    hostile = '"><script>alert(1)</script>'
    page = template.render(
        Context(
            {
                "columns": [(hostile, [1_500_000, 2])],
                "series": [hostile, "b"],
                "lines": [(hostile, [(0.5, 0.25, 0.75), None])],
                "places": ["x", hostile],
                "label": hostile,
            }
        )
    )

    assert "<script" not in page
    assert "$2.00" in page and "50% (25% to 75%)" in page
    assert 'x="15.0%"' in page and page.count('role="img"') == 2
