"""A table as text: LaTeX, Markdown, CSV. What people wrote, such as names, is escaped for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from core.web.requests import csv_lines
from review.report.tables.table import Cell, Column, Table

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
_LATEX_CHARACTERS = re.compile("|".join(re.escape(one) for one in _LATEX))
_MARKDOWN_CHARACTERS = re.compile(r"([\\`*_\[\]<>|#~])")


@dataclass(frozen=True)
class Format:
    """How a table is written: ending of its address, name on the page, content type."""

    ending: str
    label: str
    content_type: str
    write: Callable[[Table], str]


def write_latex(table: Table) -> str:
    """A booktabs table with caption and label, ready for a paper."""
    spec = "".join("r" if column.is_number else "l" for column in _columns(table))
    head = " & ".join(_latex(column.label) for column in _columns(table))
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_latex(_caption(table))}}}",
        rf"  \label{{tab:{table.key}}}",
        rf"  \begin{{tabular}}{{{spec}}}",
        r"    \toprule",
        rf"    {head} \\",
        r"    \midrule",
    ]
    lines += [rf"    {' & '.join(_latex(cell) for cell in row)} \\" for row in _rows(table)]
    lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def write_markdown(table: Table) -> str:
    """A table in GitHub's Markdown, its caption above."""
    head = " | ".join(_markdown(column.label) for column in _columns(table))
    rule = " | ".join("---:" if column.is_number else "---" for column in _columns(table))
    lines = [f"**{_markdown(_caption(table))}**", "", f"| {head} |", f"| {rule} |"]
    lines += [f"| {' | '.join(_markdown(cell) for cell in row)} |" for row in _rows(table)]
    return "\n".join(lines) + "\n"


def write_csv(table: Table) -> str:
    """Comma-separated, headings first; cells that a spreadsheet would calculate with are made safe."""
    heads = [[column.label for column in _columns(table)]]
    return "".join(csv_lines([*heads, *_rows(table)]))


FORMATS: Mapping[str, Format] = {
    one.ending: one
    for one in (
        Format("tex", "LaTeX", "text/plain; charset=utf-8", write_latex),
        Format("md", "Markdown", "text/plain; charset=utf-8", write_markdown),
        Format("csv", "CSV", "text/csv; charset=utf-8", write_csv),
    )
}


def format_links() -> list[tuple[str, str]]:
    """Ending and name of each format, in the order in which pages offer them."""
    return [(one.ending, one.label) for one in FORMATS.values()]


def _caption(table: Table) -> str:
    return f"{table.caption} ({table.note})" if table.note else table.caption


def _columns(table: Table) -> list[Column]:
    heading = [Column(table.group_label)] if table.group_label else []
    return [*heading, *(column for column in table.columns if not column.is_drawing)]


def _rows(table: Table) -> Iterator[list[str]]:
    """The rows as texts; the heading of a group stands before each of its rows, drawings are left out."""
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
