"""The section with figures under alternative scoring rules, such as including scores that are not blind."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.report.report_view import SIGNED, Json, ReportView, show_figure
from review.report.sections.agreement import STAGES
from review.report.sections.assessor import VERDICTS
from review.report.sections.figure_notes import is_part_of_study
from review.report.sections.figures import note_of
from review.report.sections.section import Block, Section
from review.report.tables.table import Cell, Column, Table, number, table_of

KEY = "sensitivity"
READINGS = {
    "with_not_blind": gettext_lazy("Including scores that are not blind"),
    "without_called_in": gettext_lazy("Without tie-breaker scores"),
    "without_first_quarter": gettext_lazy("Without the first quarter of each reviewer’s scores"),
}


def show_sensitivity(view: ReportView) -> Section | None:
    """Return a section with a table for each reading that changes a figure, and a table of the excluded scores."""
    readings = view.details.get("readings") or {}
    left_out = view.details.get("not_blind") or []
    blocks = [
        Block(table, str(READINGS[name]))
        for name in READINGS
        if (arms := readings.get(name)) and (table := _reading(view, name, arms))
    ]
    if left_out:
        blocks.append(
            Block(
                _left_out(view, left_out),
                _("Scores that are not blind"),
                _(
                    "When reviewers gave these scores, they could see more than the stage shows. The "
                    "scores are kept but do not decide the final score. Excluding them is itself a "
                    "selection, so both results are shown."
                ),
            )
        )
    missing = view.details.get("readings_missing") or {}
    if not (blocks or missing):
        return None
    return Section(
        KEY,
        _("Sensitivity"),
        blocks,
        text=" ".join(f"{READINGS[name]}: {_(reason)}." for name, reason in missing.items()),
        summary=_("figures under alternative scoring rules"),
    )


def _reading(view: ReportView, name: str, arms: Json) -> Table:
    return table_of(
        f"{KEY}-{name.replace('_', '-')}",
        f"{READINGS[name]}, {view.criterion.value}",
        [
            Column(_("Configuration")),
            Column(_("Figure")),
            Column(_("Report, n/N"), is_number=True),
            Column(_("Value"), is_number=True),
            Column(_("Alternative, n/N"), is_number=True),
            Column(_("Value"), is_number=True),
            Column(_("95% interval"), is_number=True),
        ],
        [row for place, arm in enumerate(view.arms) for row in _rows(view, place, arm, arms)],
        note_of(view),
    )


def _rows(view: ReportView, place: int, arm: Json, arms: Json) -> Iterator[list[Cell]]:
    """Yield a row for each figure of a Configuration that this reading changes."""
    read_so = arms.get(arm["name"], {}).get(view.criterion.value, {})
    for name in (one["name"] for one in view.definitions if one["name"] in read_so):
        other = read_so[name]
        figure = view.figure(place, name)
        signed = name in SIGNED
        plain, read = show_figure(figure, signed=signed), show_figure(other, signed=signed)
        if plain == read or not (is_part_of_study(figure) or is_part_of_study(other)):
            continue
        yield [
            Cell(arm["name"]),
            Cell(_(view.label(name))),
            Cell(plain.ratio),
            Cell(plain.value),
            Cell(read.ratio),
            Cell(read.value, is_strong=True),
            Cell(read.interval),
        ]


def _left_out(view: ReportView, rows: list[Json]) -> Table:
    return table_of(
        "not-blind",
        _("Scores that are not blind, by stage, verdict and value"),
        [
            Column(_("Configuration")),
            Column(_("Stage")),
            Column(_("Verdict")),
            Column(_("Value"), is_number=True),
            Column(_("Scores"), is_number=True),
        ],
        [
            [
                Cell(row["configuration"]),
                Cell(str(STAGES[row["stage"]])),
                Cell(str(VERDICTS[row["verdict"]])),
                number(row["value"]),
                number(row["scores"]),
            ]
            for row in rows
        ],
        note_of(view),
    )
