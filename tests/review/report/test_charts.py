"""Tests for the report's charts and tables as shapes, as HTML and as text, with hostile names."""

from __future__ import annotations

import csv
import io
from itertools import product

import pytest
from django.template import Context, Template

from review.report.charts.flow import HEIGHT, FlowCounts, FlowWords, draw_flow
from review.report.charts.forest import Estimate, ForestRow, draw_forest
from review.report.charts.heat import Pair, draw_heat, level_of
from review.report.charts.matrix import Counts, draw_matrix
from review.report.charts.scale import scale_of_differences, scale_of_shares
from review.report.charts.svg import write_marks
from review.report.tables.formats import write_csv, write_latex, write_markdown
from review.report.tables.table import Cell, Column, Group, Table, number, table_of
from review.report.words import explain_p
from review.study.statistics.intervals import Difference

WORDS = FlowWords("right", "wrong", "stayed right", "broken", "fixed", "stayed wrong")


def test_scales_reach_from_nothing_to_all() -> None:
    scale = scale_of_shares()
    ticks = [(tick.at, tick.label) for tick in scale.labels()]
    assert ticks == [(at, f"{at}%") for at in (0, 25, 50, 75, 100)]
    assert scale.zero is None
    assert [scale.at(value) for value in (-1, 0.425, 2)] == [0, 42.5, 100]
    wanted = {None: 0, -0.2: 0, 0: 0, 0.01: 1, 0.2: 2, 0.59: 3, 0.6: 4, 0.8: 5, 1: 5}
    assert {value: level_of(value) for value in wanted} == wanted


def test_differences_go_both_ways_alike() -> None:
    cases: list[tuple[list[float | None], float, str]] = [
        ([], 0.05, "−5 pp"),
        ([0.098, 0.04, None], 0.1, "−10 pp"),
        ([-0.31], 0.5, "−50 pp"),
        ([1.0, -0.2], 1.0, "−100 pp"),
    ]
    for values, end, least in cases:
        scale = scale_of_differences(values)
        assert (scale.low, scale.high, scale.zero) == (-end, end, 50), values
        assert scale.labels()[0].label == least
    # Differences of scores are not percentages and can be as large as 2.
    scale = scale_of_differences([-1.4], is_share=False)
    assert [tick.label for tick in scale.labels()] == ["−2", "−1", "0", "1", "2"]


def test_a_forest_plot_keeps_the_order_and_leaves_out_what_has_no_value() -> None:
    rows = [
        (
            "first",
            "First-pass accuracy",
            [Estimate(1, "a: 42.5%", 0.425, 0.349, 0.504), Estimate(5, "e: 50%", 0.5)],
        ),
        ("recall", "Recall", [Estimate(1, "", None)]),
        ("broken", "Broken", [Estimate(2, "b: 30%", 0.3, 0.1, 0.6, 0.05, 0.7)]),
    ]
    forest = draw_forest(rows, scale_of_shares())
    assert [row.key for row in forest.rows] == ["first", "broken"]
    above, below = forest.rows[0].marks
    assert (above.x, above.left, above.right, above.title) == (42.5, 34.9, 50.4, "a: 42.5%")
    # An estimate without an interval has no bar. Colors repeat after the fourth series.
    assert (below.left, below.right, below.series) == (None, None, 1)
    assert above.y < below.y < forest.rows[0].height
    assert above.top >= 0 and below.top >= above.y
    (mark,) = forest.rows[1].marks
    assert (mark.outer_left, mark.outer_right) == (5, 70)
    assert forest.zero is None and bool(forest)
    assert not draw_forest([rows[1]], scale_of_shares())


def test_empty_band_and_unmarked_bounds_are_drawn() -> None:
    rows = [("overall", "Overall", [Estimate(1, "a: 20 to 40%", None, least=0.2, most=0.4)])]
    (row,) = draw_forest(rows, scale_of_shares()).rows
    (mark,) = row.marks
    assert (mark.x, mark.outer_left, mark.outer_right) == (None, 20, 40)
    drawn = write_marks(row)
    assert "a: 20 to 40%" in drawn and 'class="bounds" x1="20' in drawn and "<circle" not in drawn
    flow = draw_flow(FlowCounts(0, 0, 2, 1), WORDS)
    assert [band.kind for band in flow.bands] == ["fixed", "still-wrong"]
    assert flow.bars[0].height == 1
    assert not draw_flow(FlowCounts(0, 0, 0, 0), WORDS)


def test_what_refinement_does_is_drawn_as_wide_as_its_share() -> None:
    flow = draw_flow(FlowCounts(survived=7, broken=3, fixed=18, still_wrong=20), WORDS)
    assert [bar.text for bar in flow.bars] == ["right 10", "wrong 38", "right 25", "wrong 23"]
    assert [band.kind for band in flow.bands] == ["survived", "broken", "fixed", "still-wrong"]
    assert flow.label == "stayed right: 7/48, broken: 3/48, fixed: 18/48, stayed wrong: 20/48"
    widths = {}
    for band in flow.bands:
        corners = [tuple(map(float, corner.split(","))) for corner in band.points.split()]
        widths[band.kind] = corners[3][1] - corners[0][1]
        assert all(0 <= y <= HEIGHT for _x, y in corners)
        # Each band has the same width at both ends.
        assert corners[2][1] - corners[1][1] == pytest.approx(widths[band.kind], abs=0.02)
    assert widths["fixed"] / widths["broken"] == pytest.approx(6, rel=0.02)
    right, wrong = flow.bars[:2]
    assert right.y + right.height < wrong.y and wrong.y + wrong.height <= HEIGHT


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


HOSTILE = "a_b & 50 % \\input{x} | `rm` <b> $1 #~^"


def make_table(name: str = "imported") -> Table:
    columns = [
        Column("Configuration"),
        Column("n/N", is_number=True),
        Column("Chart", is_drawing=True),
        Column("Beside it"),
    ]
    row = [
        Cell(name),
        Cell("65/153", url="/somewhere/"),
        Cell("", drawing=ForestRow("x", "", 10, [])),
        Cell("3 open", note="2 unresolved"),
    ]
    groups = [Group([row], heading="First-pass accuracy"), Group([row], heading="Net")]
    return Table("figures", "Figures", columns, groups, group_label="Figure", note="not blind")


def test_table_is_written_as_csv_markdown_and_latex() -> None:
    rows = list(csv.reader(io.StringIO(write_csv(make_table()))))
    assert rows == [
        ["Figure", "Configuration", "n", "N", "Beside it"],
        ["First-pass accuracy", "imported", "65", "153", "3 open (2 unresolved)"],
        ["Net", "imported", "65", "153", "3 open (2 unresolved)"],
    ]
    lines = write_markdown(make_table()).splitlines()
    assert lines[0] == "**Figures (not blind)**"
    assert lines[2:4] == [
        "| Figure | Configuration | n/N | Beside it |",
        "| --- | --- | ---: | --- |",
    ]
    assert len(lines) == 6
    text = write_latex(make_table())
    assert r"\begin{tabular}{llrl}" in text
    assert r"\caption{Figures (not blind)}" in text
    assert r"First-pass accuracy & imported & 65/153 & 3 open (2 unresolved) \\" in text
    assert text.count(r"\begin") == text.count(r"\end")
    assert text.index("adjustbox}{max width") < text.index(r"\begin{tabular}")
    long = table_of("x", "X", [Column("A")], [[Cell("word " * 40)]], "")
    assert "p{14em}}" in write_latex(long) and "p{14em}" not in text
    table = table_of("x", "X", [Column("A"), Column("B")], [[Cell("one\ntwo"), number(12345)]], "")
    assert "| one two | 12,345 |" in write_markdown(table)
    assert not table_of("x", "X", [Column("A")], [], "")


def test_copied_csv_has_each_number_in_a_column_of_its_own() -> None:
    wanted: dict[str, dict[str, object]] = {
        "−9.8 pp": {"V (percentage points)": -9.8},
        "+4.0 to +15.5 pp": {"V, low (percentage points)": 4, "V, high (percentage points)": 15.5},
        "33.3 to 53.6%": {"V, low (%)": 33.3, "V, high (%)": 53.6},
        "−0.12 to +0.30": {"V, low": -0.12, "V, high": 0.3},
        "1,641": {"V": 1641},
        "–": {"V": ""},
        "< 0.0001": {"V, note": "< 0.0001"},
        "65/153, 42.5%": {"V, n": 65, "V, N": 153, "V (%)": 42.5},
        "post-stratified 86.0%": {"V, post-stratified (%)": 86},
        "– (too few)": {"V, note": "too few"},
        "more than 5% open (4/10)": {"V, n": 4, "V, N": 10, "V, note": "more than 5% open"},
    }
    found: dict[str, dict[str, object]] = {}
    for text in wanted:
        table = table_of("x", "X", [Column("V", is_number=True)], [[Cell(text)]], "")
        headings, cells = csv.reader(io.StringIO(write_csv(table)))
        found[text] = {
            heading: cell if "note" in heading or not cell else float(cell)
            for heading, cell in zip(headings, cells, strict=True)
        }
    assert found == wanted


def test_interval_that_disagrees_with_p_is_explained() -> None:
    """Compare Newcombe's interval with the exact test. Only these small tables disagree, in either direction."""
    seen = set()
    for gained, lost, rest in product(range(12), range(12), (10, 100)):
        change = Difference.of(both=rest, lost=lost, gained=gained, neither=0)
        excludes, is_small = change.low > 0 or change.high < 0, change.p_value < 0.05
        assert bool(explain_p(vars(change))) is (excludes is not is_small), change
        seen.add((excludes, is_small))
    assert (True, False) in seen and (True, True) in seen
    assert not explain_p({"low": 0.1, "high": 0.2, "p_value": None})  # the p value is not shown yet


def test_names_break_no_table_and_carry_no_command() -> None:
    table = make_table(HOSTILE)
    latex = write_latex(table)
    assert r"a\_b \& 50 \% \textbackslash{}input\{x\} \textbar{}" in latex
    assert r"\input" not in latex
    (line,) = [one for one in write_markdown(table).splitlines() if one.startswith("| Net")]
    assert line.replace(r"\|", "").count("|") == 5
    assert r"\<b\>" in line and r"\`rm\`" in line
    spreadsheet = write_csv(make_table("=HYPERLINK(1)"))
    assert ",=HYPERLINK" not in spreadsheet


MARKUP = "\"><script>alert('1')</script>&%s"
ESCAPED = "&quot;&gt;&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&amp;%s"


def draw(source: str, **given: object) -> str:
    return Template("{% load report %}" + source).render(Context(given))


def test_a_cell_is_escaped_wherever_its_text_stands() -> None:
    (row,) = draw_forest([("k", "", [Estimate(1, MARKUP, 0.5, 0.4, 0.6)])], scale_of_shares()).rows
    cells = [
        Cell(MARKUP),
        Cell(MARKUP, url=f"?name={MARKUP}", note=MARKUP),
        Cell("", drawing=row),
        Cell(MARKUP, is_strong=True, is_demo=True),
    ]
    columns = [Column(MARKUP, is_number=place == 1, is_drawing=place == 2) for place in range(4)]
    table = table_of("k", MARKUP, columns, [cells], "")
    ((_group, (drawn,)),) = table.body
    page = draw("{% cells row %}", row=drawn)
    assert "<script" not in page
    # Three texts, one URL, one note, one title of a mark, and the labels of the two columns with a label.
    assert page.count(ESCAPED) == 8
    assert page.count("<td") == 4 and 'class="num"' in page and 'class="drawn"' in page
    links = draw("{% copy_links t f u c %}", t=table, f=[("md", "Markdown")], u="/x/", c="strict")
    assert "<script" not in links and links.count(ESCAPED) == 1
    assert 'href="/x/k.md?criterion=strict"' in links
