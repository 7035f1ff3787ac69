"""Cells and marks of the report are put together by hand: what people wrote stands in them escaped."""

from __future__ import annotations

from django.template import Context, Template

from review.report.charts.forest import Estimate, draw_forest
from review.report.charts.scale import scale_of_shares
from review.report.tables.table import Cell, Column, table_of

HOSTILE = "\"><script>alert('1')</script>&%s"
ESCAPED = "&quot;&gt;&lt;script&gt;alert(&#x27;1&#x27;)&lt;/script&gt;&amp;%s"


def draw(source: str, **given: object) -> str:
    return Template("{% load report %}" + source).render(Context(given))


def test_a_cell_is_escaped_wherever_its_text_stands() -> None:
    (row,) = draw_forest([("k", "", [Estimate(1, HOSTILE, 0.5, 0.4, 0.6)])], scale_of_shares()).rows
    cells = [
        Cell(HOSTILE),
        Cell(HOSTILE, url=f"?name={HOSTILE}", note=HOSTILE),
        Cell("", drawing=row),
        Cell(HOSTILE, is_strong=True, is_demo=True),
    ]
    columns = [Column(HOSTILE, is_number=place == 1, is_drawing=place == 2) for place in range(4)]
    table = table_of("k", HOSTILE, columns, [cells], "")
    ((_group, (drawn,)),) = table.body
    page = draw("{% cells row %}", row=drawn)
    assert "<script" not in page
    # Three texts, one address, one note, one title of a mark, and the labels of the two columns that have one.
    assert page.count(ESCAPED) == 8
    assert page.count("<td") == 4 and 'class="num"' in page and 'class="drawn"' in page
    links = draw("{% copy_links t f u c %}", t=table, f=[("md", "Markdown")], u="/x/", c="strict")
    assert "<script" not in links and links.count(ESCAPED) == 1
    assert 'href="/x/k.md?criterion=strict"' in links
