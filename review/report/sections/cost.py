"""The section on the cost of the runs and the reviewers' time."""

from __future__ import annotations

from django.utils.translation import gettext as _

from review.report.report_view import Json, ReportView
from review.report.sections.figures import note_of
from review.report.sections.section import Block, Section, arm_cell
from review.report.tables.table import Cell, Column, number, table_of
from review.report.words import NOTHING

KEY = "cost"


def show_cost(view: ReportView) -> Section | None:
    """Return a section with a table of all Configurations, or None if neither costs nor review times are known."""
    costs = view.details["costs"]
    found = [(arm, costs.get(arm["name"])) for arm in view.arms]
    found = [(arm, cost) for arm, cost in found if cost or arm["time"]["items"]]
    if not found:
        return None
    table = table_of(
        KEY,
        _("Cost and time"),
        [
            Column(_("Configuration")),
            Column(_("Calls"), is_number=True),
            Column(_("Tokens"), is_number=True),
            Column(_("Cost, US$"), is_number=True),
            Column(_("Model seconds"), is_number=True),
            Column(_("Reviewer minutes per item"), is_number=True),
        ],
        [[arm_cell(arm), *_cost_cells(cost), _minutes(arm)] for arm, cost in found],
        note_of(view),
    )
    return Section(KEY, _("Cost and time"), [Block(table)])


def _cost_cells(cost: Json | None) -> list[Cell]:
    if not cost:
        return [Cell(NOTHING)] * 4
    unpriced, batched = cost["unpriced_calls"], cost.get("batched_calls", 0)
    notes = [
        _("%s calls without a price") % f"{unpriced:,}" if unpriced else "",
        _("%s calls in message batches, at half the price") % f"{batched:,}" if batched else "",
    ]
    return [
        number(cost["calls"]),
        number(cost["tokens"]),
        Cell(
            f"{cost['micro_dollars'] / 1_000_000:,.4f}",
            note="; ".join(note for note in notes if note),
        ),
        Cell(f"{cost['model_milliseconds'] / 1000:,.1f}"),
    ]


def _minutes(arm: Json) -> Cell:
    time = arm["time"]
    if not time["items"]:
        return Cell(NOTHING)
    minutes = time["seconds"] / 60 / time["items"]
    return Cell(f"{minutes:.1f}", note=_("%s items") % f"{time['items']:,}")
