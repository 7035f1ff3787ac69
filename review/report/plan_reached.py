"""What the plan of a study wanted and assumed, beside what was reached."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from review.campaigns.services.planning import Plan
from review.report.report_view import Json, ReportView
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.report.words import NOTHING, say_share
from review.study.planning import Aim

_DEFAULT_FIGURE = "first_pass_accuracy"


def tabulate_plan(view: ReportView, plan: Plan) -> Table:
    """A row for the number of items, and for what the plan is after, in each Configuration."""
    rows = [
        [
            Cell(_("Items, %s") % arm["name"]),
            number(plan.items),
            number(arm["items"].get("scored", 0)),
        ]
        for arm in view.arms
    ]
    return table_of(
        "plan",
        _("Planned and reached, %s") % view.criterion.value,
        [
            Column(_("What")),
            Column(_("Planned"), is_number=True),
            Column(_("Reached"), is_number=True),
        ],
        [*rows, *_rows(view, plan)],
    )


def _rows(view: ReportView, plan: Plan) -> Iterator[list[Cell]]:
    if plan.aim is Aim.SHARE:
        yield from _half_widths(view, plan)
    elif plan.aim is Aim.PAIRED:
        yield from _discordant(view, plan)
    else:
        one = view.report["agreement"]["script"]
        yield [
            Cell(_("Width of the interval of alpha, script")),
            Cell(f"{plan.wanted:.2f}"),
            Cell(NOTHING if one["low"] is None else f"{one['high'] - one['low']:.2f}"),
        ]


def _half_widths(view: ReportView, plan: Plan) -> Iterator[list[Cell]]:
    name = view.details["primary_figure"] or _DEFAULT_FIGURE
    for place, arm in enumerate(view.arms):
        figure = view.figure(place, name)
        yield [
            Cell(_("%(figure)s, %(name)s") % {"figure": _(view.label(name)), "name": arm["name"]}),
            Cell(say_share(plan.assumed["share"])),
            Cell(say_share(figure["value"])),
        ]
        yield [
            Cell(_("Half-width of its interval, %s") % arm["name"]),
            Cell(say_share(plan.wanted)),
            Cell(say_share(_half_width(figure))),
        ]


def _half_width(figure: Json) -> float | None:
    return None if figure["low"] is None else (figure["high"] - figure["low"]) / 2


def _discordant(view: ReportView, plan: Plan) -> Iterator[list[Cell]]:
    """The shares that the power was worked out from, as they turned out."""
    name = view.details["primary_figure"] or _DEFAULT_FIGURE
    labels = {"gained": _("Only the second is right"), "lost": _("Only the first is right")}
    for one in view.details["comparisons"]:
        change = one[view.criterion.value].get(name)
        if change and change["items"]:
            for key, label in labels.items():
                yield [
                    Cell(f"{label}: {one['first']}, {one['second']}"),
                    Cell(say_share(plan.assumed[key])),
                    Cell(say_share(change[key] / change["items"])),
                ]
