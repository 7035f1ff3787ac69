"""Template tags for reports: table rows, copy links and forest plots.

The HTML is built here because a report has hundreds of cells, and including a file per cell took a third of the page's
rendering time.
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
    """Render the shape and color of a Configuration. `series` starts at 1, and shapes repeat after 4."""
    return write_glyph(series)


@register.simple_tag
def marks(row: ForestRow, ticks: Sequence[Tick] = (), zero: float | None = None) -> SafeString:
    """Render one row of a forest plot."""
    return write_marks(row, ticks=ticks, zero=zero)


@register.simple_tag
def copy_links(
    table: Table, formats: Sequence[tuple[str, str]], tables_url: str, criterion: str
) -> SafeString:
    """Return a link to each format of a table. JavaScript copies the linked content."""
    messages = {
        "data-copied": _("Copied"),
        "data-failed": _("Can't copy. Open the link and copy the text there."),
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
    """Render a table row from its columns and cells."""
    return SafeString(
        "".join(_cell(column, cell, is_first=not place) for place, (column, cell) in enumerate(row))
    )


def _cell(column: Column, cell: Cell, *, is_first: bool) -> str:
    tag = "<td"
    if column.is_number or column.is_drawing:
        tag += ' class="num"' if column.is_number else ' class="drawn"'
    if not (is_first or column.is_drawing):
        # Narrow screens show the label before the text. The first column does not need a label.
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
