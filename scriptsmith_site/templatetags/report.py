"""Template tags of a report: the rows of its tables, the links to them as text, the marks of its forest plots.

They are put together here and not by files: a report has hundreds of cells, and including a file for each took a third
of the time in which its page was made.
"""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from review.report.charts.forest import ForestRow
from review.report.charts.scale import Tick
from review.report.charts.svg import write_glyph, write_marks
from review.report.tables.table import Cell, Column, Table
from scriptsmith_site.templatetags.components import demo_badge, icon

register = template.Library()


@register.simple_tag
def glyph(series: int) -> SafeString:
    """The mark of a Configuration: a shape and a colour of its own; `series` is 1 to 4, more begin again."""
    return write_glyph(series)


@register.simple_tag
def marks(row: ForestRow, ticks: Sequence[Tick] = (), zero: float | None = None) -> SafeString:
    """The drawing of one row of a forest plot."""
    return write_marks(row, ticks=ticks, zero=zero)


@register.simple_tag
def copy_links(
    table: Table, formats: Sequence[tuple[str, str]], tables_url: str, criterion: str
) -> SafeString:
    """A link to each format of a table; a script copies what it leads to."""
    messages = {
        "data-copied": _("Copied"),
        "data-failed": _("Copying was not possible. Open the link and copy it by hand."),
    }
    said = "".join(f' {name}="{escape(words)}"' for name, words in messages.items())
    done = f'<span class="copy-done">{icon("check")}</span>'
    name = _("Copy %(caption)s as %(label)s")
    links = []
    for ending, label in formats:
        address = f"{tables_url}{table.key}.{ending}?criterion={criterion}"
        named = escape(name % {"caption": table.caption, "label": label})
        links.append(
            f'<a href="{escape(address)}" data-copy-from{said} aria-label="{named}">{escape(label)}{done}</a>'
        )
    return SafeString(" ".join(links))


@register.simple_tag
def cells(row: Sequence[tuple[Column, Cell]]) -> SafeString:
    """A row of a table: each cell of it with its column."""
    return SafeString(
        "".join(_cell(column, cell, is_first=not place) for place, (column, cell) in enumerate(row))
    )


def _cell(column: Column, cell: Cell, *, is_first: bool) -> str:
    tag = "<td"
    if column.is_number or column.is_drawing:
        tag += ' class="num"' if column.is_number else ' class="drawn"'
    if not (is_first or column.is_drawing):
        # Where the screen is narrow it stands before the text; the first column needs none.
        tag += f' data-label="{escape(column.label)}"'
    drawn = write_marks(cell.drawing, zero=cell.zero) if cell.drawing else ""
    text: str = escape(cell.text)
    if cell.url:
        text = f'<a href="{escape(cell.url)}">{text}</a>'
    elif cell.is_strong:
        text = f"<strong>{text}</strong>"
    note = f' <span class="muted">{escape(cell.note)}</span>' if cell.note else ""
    demo = f" {demo_badge()}" if cell.is_demo else ""
    return f"{tag}>{drawn}{text}{note}{demo}</td>"
