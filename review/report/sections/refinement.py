"""The section on accuracy after each round of refinement."""

from __future__ import annotations

from django.utils.translation import gettext as _

from review.report.report_view import Json, ReportView
from review.report.sections.figures import note_of
from review.report.sections.section import Block, ChartPoint, LineChart, Section
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.report.words import say_interval, say_ratio, say_share
from review.study.compare import MOST_OPEN

KEY = "gain"


def show_refinement(view: ReportView) -> Section | None:
    """Return a section with a block for each Configuration that has refinements."""
    blocks = [
        Block(
            _table(view, arm, place, rows),
            title=arm["name"],
            arm=arm,
            chart=_chart(arm, rows),
        )
        for place, arm in enumerate(view.arms)
        for rows in [view.part(arm, "gain")]
        if any(row["round"] and row["drafts"] for row in rows)
    ]
    if not blocks:
        return None
    return Section(
        KEY,
        _("Gain per round of refinement"),
        blocks,
        summary=_("both overall accuracies after each round"),
        text=_(view.texts["gain"]),
    )


def _chart(arm: Json, rows: list[Json]) -> LineChart:
    names = {
        "by_expert": _("triggered by experts (oracle)"),
        "by_assessor": _("triggered by the assessor"),
    }
    places = [_("round %s") % row["round"] if row["round"] else _("first script") for row in rows]
    lines = [
        (label, [_point(row[name], row.get(f"pending_{name}", 0)) for row in rows])
        for name, label in names.items()
    ]
    return LineChart(lines, places, _("Overall accuracy of %s after each round") % arm["name"])


def _point(share: Json, is_open: int) -> ChartPoint | None:
    """Return a point of the chart, or None if more than 5% of the items are open and would bias the value."""
    if share["value"] is None or is_open > MOST_OPEN * (is_open + share["denominator"]):
        return None
    if share.get("post_stratified") is not None:
        return share["post_stratified"], None, None
    return share["value"], share["low"], share["high"]


def _table(view: ReportView, arm: Json, place: int, rows: list[Json]) -> Table:
    return table_of(
        f"{KEY}-{place + 1}",
        _("Overall accuracy of %(name)s after each round, %(criterion)s")
        % {"name": arm["name"], "criterion": view.criterion.value},
        [
            Column(_("Round"), is_number=True),
            Column(_("Drafts"), is_number=True),
            Column(_("Triggered by experts (oracle)"), is_number=True),
            Column(_("Triggered by the assessor"), is_number=True),
            Column(_("Open, triggered by experts"), is_number=True),
            Column(_("Open, triggered by the assessor"), is_number=True),
        ],
        [
            [
                number(row["round"]),
                number(row["drafts"]),
                Cell(_share(row["by_expert"])),
                Cell(_share(row["by_assessor"])),
                *map(number, _open(row)),
            ]
            for row in rows
        ],
        note_of(view),
    )


def _share(share: Json) -> str:
    """Return n/N and the value. If the share has a range, return the range, the weighted value and n/N instead."""
    ratio = say_ratio(share["numerator"], share["denominator"])
    found = share.get("range")
    if not found:
        return f"{ratio}, {say_share(share['value'])}"
    said = _("%(range)s, weighted %(value)s (closed items only: %(ratio)s)")
    return said % {
        "range": say_interval(*found),
        "value": say_share(share["post_stratified"]),
        "ratio": ratio,
    }


def _open(row: Json) -> list[int]:
    """Return the number of open items for each trigger."""
    return [row[name] for name in row if name.startswith(("pending_", "open_"))]
