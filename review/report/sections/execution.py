"""Execution against experts, and why they differ."""

from __future__ import annotations

from django.utils.translation import gettext as _

from review.report.figure_notes import REASONS
from review.report.report_view import ReportView
from review.report.sections.figures import note_of
from review.report.sections.section import Block, Section, arm_cell
from review.report.tables.table import Cell, Column, number, table_of
from review.report.words import say_interval, say_ratio, say_share

KEY = "execution"
FIGURE = "execution_agreement"


def show_execution(view: ReportView) -> Section | None:
    """One row for each Configuration with execution results; reasons are given on the list of the items."""
    found = [
        (arm, figure)
        for place, arm in enumerate(view.arms)
        for figure in [view.figure(place, FIGURE)]
        if figure["denominator"]
    ]
    if not found:
        return None
    table = table_of(
        KEY,
        _("Execution against experts, %s") % view.criterion.value,
        [
            Column(_("Configuration")),
            Column(_("Agree / both known"), is_number=True),
            Column(_("Value"), is_number=True),
            Column(_("95 % interval"), is_number=True),
            *(Column(str(label).capitalize(), is_number=True) for label in REASONS.values()),
        ],
        [
            [
                arm_cell(arm),
                Cell(
                    say_ratio(figure["numerator"], figure["denominator"]),
                    url=view.link(arm["name"], figure=FIGURE, which="rest"),
                ),
                Cell(say_share(figure["value"]), is_strong=True),
                Cell(say_interval(figure["low"], figure["high"])),
                *(number(figure["reasons"].get(key, 0)) for key in REASONS),
            ]
            for arm, figure in found
        ],
        note_of(view),
    )
    summary = _("where they differ, and the reasons that were given")
    return Section(KEY, _("Execution against experts"), [Block(table)], summary=summary)
