"""Tables of the report as text: LaTeX, Markdown and CSV, with whatever people named things."""

from __future__ import annotations

import csv
import io

from review.report.charts.forest import ForestRow
from review.report.tables.formats import write_csv, write_latex, write_markdown
from review.report.tables.table import Cell, Column, Group, Table, number, table_of

HOSTILE = "a_b & 50 % \\input{x} | `rm` <b> $1 #~^"


def make_table(name: str = "imported") -> Table:
    columns = [
        Column("Configuration"),
        Column("n / N", is_number=True),
        Column("Drawing", is_drawing=True),
        Column("Beside it"),
    ]
    row = [
        Cell(name),
        Cell("65 / 153", url="/somewhere/"),
        Cell("", drawing=ForestRow("x", "", 10, [])),
        Cell("3 open", note="2 unresolved"),
    ]
    groups = [Group([row], heading="First-pass accuracy"), Group([row], heading="Net")]
    return Table("figures", "Figures", columns, groups, group_label="Figure", note="not blind")


def test_csv_has_a_column_for_groups_and_none_for_drawings() -> None:
    rows = list(csv.reader(io.StringIO(write_csv(make_table()))))
    assert rows == [
        ["Figure", "Configuration", "n / N", "Beside it"],
        ["First-pass accuracy", "imported", "65 / 153", "3 open (2 unresolved)"],
        ["Net", "imported", "65 / 153", "3 open (2 unresolved)"],
    ]


def test_markdown_aligns_numbers_and_says_what_must_be_read_with_it() -> None:
    lines = write_markdown(make_table()).splitlines()
    assert lines[0] == "**Figures (not blind)**"
    assert lines[2:4] == [
        "| Figure | Configuration | n / N | Beside it |",
        "| --- | --- | ---: | --- |",
    ]
    assert len(lines) == 6


def test_latex_is_a_booktabs_table() -> None:
    text = write_latex(make_table())
    assert r"\begin{tabular}{llrl}" in text
    assert r"\caption{Figures (not blind)}" in text
    assert r"First-pass accuracy & imported & 65 / 153 & 3 open (2 unresolved) \\" in text
    assert text.count(r"\begin") == text.count(r"\end")


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


def test_lines_in_a_name_become_one() -> None:
    table = table_of("x", "X", [Column("A"), Column("B")], [[Cell("one\ntwo"), number(12345)]], "")
    assert "| one two | 12,345 |" in write_markdown(table)
    assert not table_of("x", "X", [Column("A")], [], "")
