"""Write a table as LaTeX, Markdown or CSV. User-supplied text, such as names, is escaped for each format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from core.web.requests import csv_lines
from review.report.tables.table import Cell, Column, Table
from review.report.words import NOTHING, POINTS

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
}
_WRAPPED = 28  # maximum number of characters in a LaTeX column that does not wrap
# Patterns for the separators in a cell, and for a piece with one value: a number, both ends of an interval, or n/N.
# Text with more than a few words around a number is treated as a sentence, and so is "More than 5% open".
_BETWEEN = re.compile(r", | · |[:()]")
_NUMBER = r"[+−-]?\d[\d,]*(?:\.\d+)?"
_VALUE = re.compile(
    rf"(?!more than )(?P<before>(?:[^\W\d]\S* ){{0,2}}=? ?\$?)"
    rf"(?P<first>{_NUMBER})(?:(?P<sep> to |/)(?P<second>{_NUMBER}))?(?: ?(?P<unit>%|{POINTS})(?= |$))?"
    r"(?: (?P<after>[^\d]+))?"
)
_LATEX_CHARACTERS = re.compile("|".join(re.escape(one) for one in _LATEX))
_MARKDOWN_CHARACTERS = re.compile(r"([\\`*_\[\]<>|#~])")


@dataclass(frozen=True)
class Format:
    """A table format: its URL suffix, its name on the page and its content type."""

    ending: str
    label: str
    content_type: str
    write: Callable[[Table], str]


def write_latex(table: Table) -> str:
    """Return a booktabs table with a caption and a label. Long text wraps, so the table is at most one line wide."""
    rows, columns = list(_rows(table)), _columns(table)
    spec = "".join(
        "r" if column.is_number else _latex_text(max((len(row[place]) for row in rows), default=0))
        for place, column in enumerate(columns)
    )
    head = " & ".join(_latex(column.label) for column in columns)
    lines = [
        r"% \usepackage{adjustbox,array,booktabs}",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_latex(_caption(table))}}}",
        rf"  \label{{tab:{table.key}}}",
        r"  \begin{adjustbox}{max width=\linewidth}",
        rf"  \begin{{tabular}}{{{spec}}}",
        r"    \toprule",
        rf"    {head} \\",
        r"    \midrule",
    ]
    lines += [rf"    {' & '.join(_latex(cell) for cell in row)} \\" for row in rows]
    lines += [r"    \bottomrule", r"  \end{tabular}", r"  \end{adjustbox}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _latex_text(longest: int) -> str:
    """Return the LaTeX specification of a text column. `longest` is the length of the column's longest cell."""
    return r">{\raggedright\arraybackslash}p{14em}" if longest > _WRAPPED else "l"


def write_markdown(table: Table) -> str:
    """Return a GitHub Flavored Markdown table below its caption."""
    head = " | ".join(_markdown(column.label) for column in _columns(table))
    rule = " | ".join("---:" if column.is_number else "---" for column in _columns(table))
    lines = [f"**{_markdown(_caption(table))}**", "", f"| {head} |", f"| {rule} |"]
    lines += [f"| {' | '.join(_markdown(cell) for cell in row)} |" for row in _rows(table)]
    return "\n".join(lines) + "\n"


def write_csv(table: Table) -> str:
    """Return the table as CSV. Each number has its own column, with the unit in the heading."""
    rows = [row for group in table.groups for row in group.rows]
    parts: list[list[object]] = [[] for _line in range(len(rows) + 1)]
    if table.group_label:
        parts[0].append(table.group_label)
        headings = (group.heading for group in table.groups for _row in group.rows)
        for line, heading in zip(parts[1:], headings, strict=True):
            line.append(heading)
    for place, column in enumerate(table.columns):
        if not column.is_drawing:
            for line, cells in zip(
                parts, _split(column, [row[place] for row in rows]), strict=True
            ):
                line += cells
    return "".join(csv_lines(parts))


def _split(column: Column, cells: list[Cell]) -> list[list[object]]:
    """Split a column into one column per number. Return the headings, followed by the values of each cell."""
    if not (column.is_number or column.has_numbers):
        texts: list[list[object]] = [[_text(cell).replace("−", "-")] for cell in cells]
        return [[column.label], *texts]
    read = [_read_numbers(f"{cell.text} · {cell.note}", column.label) for cell in cells]
    names = list(dict.fromkeys(name for one in read for name in one)) or [column.label]
    values: list[list[object]] = [[one.get(name, "") for name in names] for one in read]
    return [list(names), *values]


def _read_numbers(text: str, label: str) -> dict[str, object]:
    """Return the numbers of a cell, keyed by column heading. Other text is under a heading for notes."""
    found: dict[str, object] = {}
    words: list[str] = []
    for piece in filter(None, (one.strip() for one in _BETWEEN.split(text))):
        match = _VALUE.fullmatch(piece)
        if match is None:
            words += [] if piece == NOTHING else [piece.replace("−", "-")]
            continue
        role = " ".join(filter(None, (match["before"].strip(" ="), match["after"])))
        unit = {"%": " (%)", POINTS: " (percentage points)"}.get(match["unit"] or "", "")
        ends = {" to ": ("low", "high"), "/": ("n", "N")}.get(match["sep"] or "", ("",))
        for end, text_of in zip(ends, (match["first"], match["second"]), strict=False):
            is_ratio = label == "n/N" and not role
            name = end if is_ratio else ", ".join(filter(None, (label, role, end))) + unit
            number = float(text_of.replace(",", "").replace("−", "-"))
            found[f"{name} 2" if name in found else name] = (
                int(number) if number.is_integer() and "." not in text_of else number
            )
    if words:
        found[_("%s, note") % label] = "; ".join(words)
    return found


FORMATS: Mapping[str, Format] = {
    one.ending: one
    for one in (
        Format("tex", "LaTeX", "text/plain; charset=utf-8", write_latex),
        Format("md", "Markdown", "text/plain; charset=utf-8", write_markdown),
        Format("csv", "CSV", "text/csv; charset=utf-8", write_csv),
    )
}


def format_links() -> list[tuple[str, str]]:
    """Return the URL suffix and the name of each format, in page order."""
    return [(one.ending, one.label) for one in FORMATS.values()]


def _caption(table: Table) -> str:
    texts = [cell.text for group in table.groups for row in group.rows for cell in row]
    unit = _("pp: percentage points") if any(text.endswith(f" {POINTS}") for text in texts) else ""
    return " ".join([table.caption, *(f"({one})" for one in (table.note, unit) if one)])


def _columns(table: Table) -> list[Column]:
    heading = [Column(table.group_label)] if table.group_label else []
    return [*heading, *(column for column in table.columns if not column.is_drawing)]


def _rows(table: Table) -> Iterator[list[str]]:
    """Yield the cell texts of each row, with the group heading first and without drawings."""
    kept = [place for place, column in enumerate(table.columns) if not column.is_drawing]
    for group in table.groups:
        heading = [group.heading] if table.group_label else []
        for row in group.rows:
            yield [*heading, *(_text(row[place]) for place in kept)]


def _text(cell: Cell) -> str:
    return f"{cell.text} ({cell.note})" if cell.note else cell.text


def _latex(text: str) -> str:
    return _LATEX_CHARACTERS.sub(lambda found: _LATEX[found[0]], " ".join(text.split()))


def _markdown(text: str) -> str:
    return _MARKDOWN_CHARACTERS.sub(r"\\\1", " ".join(text.split()))
