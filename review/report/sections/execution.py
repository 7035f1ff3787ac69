"""Execution against experts, and why they differ."""

from __future__ import annotations

from django.utils.translation import gettext as _

from review.report.figure_notes import REASONS
from review.report.report_view import ReportView
from review.report.sections.figures import note_of
from review.report.sections.section import Block, Section, arm_cell, share_cells, share_columns
from review.report.tables.table import Column, number, table_of

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
            *share_columns(_("Agree / both known")),
            *(Column(str(label).capitalize(), is_number=True) for label in REASONS.values()),
        ],
        [
            [
                arm_cell(arm),
                *share_cells(figure, url=view.link(arm["name"], figure=FIGURE, which="rest")),
                *(number(figure["reasons"].get(key, 0)) for key in REASONS),
            ]
            for arm, figure in found
        ],
        note_of(view),
    )
    summary = _("where they differ, and the reasons that were given")
    return Section(KEY, _("Execution against experts"), [Block(table)], summary=summary)
