"""Compare a study's plan and assumptions with its results."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from review.campaigns.services.planning import Plan
from review.report.report_view import SIGNED, Json, ReportView, range_of, show_figure
from review.report.sections.figures import is_closed, note_of
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.report.words import NOTHING, say_points, say_share
from review.study.planning import Aim, power

_DEFAULT_FIGURE = "first_pass_accuracy"


def tabulate_plan(view: ReportView, plan: Plan, *, reviewers: int) -> Table:
    """Return a table of planned and actual values: the items, the plan's aim in each Configuration, and the effort.

    `reviewers` is the actual number of reviewers.
    """
    rows = [
        [
            Cell(_("Items, %s") % arm["name"]),
            number(plan.items),
            number(arm["items"].get("scored", 0)),
        ]
        for arm in view.arms
    ]
    done = view.details.get("planned_done")
    if done is not None:
        # Imported scores existed before the plan and do not count toward it.
        rows = [[Cell(_("Statements scored in ScriptSmith")), number(plan.items), number(done)]]
    return table_of(
        "plan",
        _("Planned and reached values, %s") % view.criterion.value,
        [
            Column(_("Quantity")),
            Column(_("Planned"), is_number=True),
            Column(_("Reached"), is_number=True),
        ],
        [*rows, *_rows(view, plan), *_work(view, plan, reviewers)],
        note_of(view),
    )


def _rows(view: ReportView, plan: Plan) -> Iterator[list[Cell]]:
    if plan.aim is Aim.SHARE:
        yield from _half_widths(view, plan)
    elif plan.aim is Aim.PAIRED:
        yield from _discordant(view, plan)
    else:
        one = view.report["agreement"]["script"]
        yield [
            Cell(_("Width of the alpha interval, script")),
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
            Cell(show_figure(figure, signed=name in SIGNED).value),
        ]
        yield [
            Cell(_("Margin of error, %s") % arm["name"]),
            Cell(say_points(plan.wanted)),
            Cell(say_points(_half_width(figure))),
        ]


def _half_width(figure: Json) -> float | None:
    """Return the half-width of the figure's interval, or None if the figure has no interval or a range instead."""
    return (
        None if figure["low"] is None or range_of(figure) else (figure["high"] - figure["low"]) / 2
    )


def _discordant(view: ReportView, plan: Plan) -> Iterator[list[Cell]]:
    """Yield the planned and observed discordant shares and power, for the primary pair if one was chosen."""
    name = view.details["primary_figure"] or _DEFAULT_FIGURE
    labels = {
        "gained": _("Correct only with the second configuration"),
        "lost": _("Correct only with the first configuration"),
    }
    for one in _compared(view):
        change = one[view.criterion.value].get(name)
        if not change or not change["items"]:
            continue
        pair = f"{one['first']}, {one['second']}"
        shares = {key: change[key] / change["items"] for key in labels}
        for key, label in labels.items():
            yield [
                Cell(f"{label}: {pair}"),
                Cell(say_share(plan.assumed[key])),
                Cell(say_share(shares[key])),
            ]
        # The power reveals as much as the p value, so an open study hides both.
        if is_closed(view):
            independent = round(change["items"] / (change.get("deff") or 1.0))
            yield [
                Cell(
                    _("Power for the observed shares: %s") % pair,
                    note=_("computed from the result, so it adds no evidence to p"),
                ),
                Cell(say_share(plan.wanted)),
                Cell(say_share(power(shares["gained"], shares["lost"], independent))),
            ]


def _compared(view: ReportView) -> list[Json]:
    found: list[Json] = view.details["comparisons"]
    primary = (view.details.get("p_values") or {}).get("primary")
    if not primary or not primary["second"]:
        return found
    pair = (primary["first"], primary["second"])
    return [one for one in found if (one["first"], one["second"]) == pair]


def _work(view: ReportView, plan: Plan, reviewers: int) -> Iterator[list[Cell]]:
    """Yield the planned and the actual reviewing effort."""
    work = plan.work
    if work is None:
        return
    items = sum(arm["time"]["items"] for arm in view.arms)
    seconds = sum(arm["time"]["seconds"] for arm in view.arms)
    yield [Cell(_("Reviewers")), number(work.reviewers), number(reviewers)]
    yield [
        Cell(_("Active reviewer minutes per item")),
        Cell(f"{work.assumed['minutes'] * work.assumed['overlap']:.1f}"),
        Cell(f"{seconds / 60 / items:.1f}" if items else NOTHING),
    ]
    yield [
        Cell(_("Total reviewer hours")),
        Cell(f"{work.hours:,.1f}"),
        Cell(f"{seconds / 3600:,.1f}" if items else NOTHING),
    ]
