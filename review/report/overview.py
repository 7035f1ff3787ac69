"""The head of a report: the plan and its results, the primary figure, and the charts.

Parts without data are omitted and listed in `missing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from review.report.charts.flow import Flow, FlowCounts, FlowWords, draw_flow
from review.report.charts.forest import Forest, ForestRow, draw_forest
from review.report.charts.matrix import Counts, MatrixCell, draw_matrix
from review.report.charts.scale import scale_of_differences, scale_of_shares
from review.report.report_view import SIGNED, Json, ReportView, bounds_of, range_of, show_figure
from review.report.sections.agreement import (
    MOST_REVIEWERS,
    STAGES,
    HeatMap,
    heat_of,
    names_of,
)
from review.report.sections.assessor import has_assessor
from review.report.sections.figure_notes import is_part_of_study
from review.report.sections.figures import ORACLES, is_closed
from review.report.words import (
    explain_p,
    say_chosen,
    say_coefficient,
    say_coefficients,
    say_interval,
    say_p_is,
    say_pilot,
    say_ratio,
    say_reason,
    say_share,
)

_DEFAULT_PRIMARY = "first_pass_accuracy"
# Complements of other figures. Only the details show them, to keep the head on one screen.
_NOT_DRAWN = ("still_wrong_of_feedback", "still_wrong_of_items")


@dataclass(frozen=True)
class BigNumber:
    """The primary figure of one Configuration, in large type."""

    arm: Json
    series: int
    value: str
    interval: str
    ratio: str
    url: str
    open: str
    is_range: bool


@dataclass(frozen=True)
class Primary:
    """The campaign's primary figure with its definition, or first-pass accuracy if none was chosen."""

    name: str
    label: str
    text: str
    was_chosen: bool
    chosen: str  # a sentence about when the figure was chosen
    arms: Sequence[BigNumber]
    difference: str


@dataclass(frozen=True)
class PlotRow:
    """A row of the forest plot with the values of each Configuration that has the figure."""

    row: ForestRow
    shown: Sequence[tuple[int, str, str, str]]  # series, value, interval, n/N
    is_primary: bool
    is_oracle: bool
    text: str


@dataclass(frozen=True)
class Plot:
    """A forest plot with the data of its rows."""

    rows: Sequence[PlotRow]
    forest: Forest


@dataclass(frozen=True)
class Matrix:
    """The comparison of assessor and experts for one Configuration, with links from the cells to their items."""

    arm: Json
    series: int
    cells: dict[str, MatrixCell]
    urls: dict[str, str]
    recall: str
    others: Sequence[str]


@dataclass(frozen=True)
class ArmFlow:
    """The effect of refinement on the flagged scripts of one Configuration."""

    arm: Json
    series: int
    flow: Flow
    fixed: str
    broken: str
    net: str


@dataclass(frozen=True)
class StageAgreement:
    """The main coefficient of a stage, and the heat map if the report includes the pairs."""

    key: str
    label: str
    items: int
    alpha: str
    interval: str
    undefined: str
    heat: HeatMap | None


def show_overview(view: ReportView) -> dict[str, object]:
    """Return the template context of the report's head."""
    plots = [plot for plot in (_plot(view, signed=False), _plot(view, signed=True)) if plot.rows]
    return {
        "is_unblinded": not view.details.get("is_blind", True),
        "facts": _facts(view),
        "primary": _primary(view),
        "plots": plots,
        "matrices": list(_matrices(view)),
        "flows": list(_flows(view)),
        "agreement": list(_agreement(view)),
        "missing": list(_missing(view)),
        "legend": [(place + 1, arm) for place, arm in enumerate(view.arms)],
    }


def _facts(view: ReportView) -> dict[str, object]:
    """Return the item counts of all Configurations under the criterion, and the progress of the plan.

    `disputed` counts the scripts and feedback that are waiting for an adjudicator, under either criterion.
    """
    # Older snapshots only count items that are final under at least one criterion.
    items = [{**arm["items"], **arm[view.criterion.value].get("items", {})} for arm in view.arms]
    names = sorted({name for one in items for name in one})
    sums = {name: sum(one.get(name, 0) for one in items) for name in names}
    planned, done = view.details["planned_items"], view.details.get("planned_done")
    return {
        **sums,
        # The figures count a failed run as wrong, but no reviewer has scored it.
        "scored": sums.get("scored", 0) - sums.get("failed", 0),
        "pilot": say_pilot(view.details.get("pilot")),
        "planned": planned if done is not None else None,
        "done": done,
        "reached": say_share(done / planned) if planned and done is not None else "",
        "withdrawn": view.details["withdrawn"],
        "disputed": view.details.get("disputed", 0),
    }


def _primary(view: ReportView) -> Primary | None:
    chosen = view.details["primary_figure"]
    name = chosen or _DEFAULT_PRIMARY
    definition = next((one for one in view.definitions if one["name"] == name), None)
    if definition is None or not view.arms:
        return None
    signed = name in SIGNED
    arms = []
    for place, arm in enumerate(view.arms):
        figure = view.figure(place, name)
        shown = show_figure(figure, signed=signed)
        least, most = bounds_of(figure)
        reason = figure.get("reason")
        arms.append(
            BigNumber(
                arm,
                place + 1,
                shown.value,
                _(reason) if reason else shown.interval,
                shown.ratio,
                view.link(arm["name"], figure=name),
                say_interval(least, most, signed=signed)
                if least is not None and not shown.is_range
                else "",
                shown.is_range,
            )
        )
    return Primary(
        name,
        _(definition["label"]),
        _(definition["text"]),
        bool(chosen),
        say_chosen(chosen, view.details.get("primary_chosen")) if chosen else "",
        arms,
        _difference(view, name),
    )


def _difference(view: ReportView, name: str) -> str:
    """Return the difference in the primary figure between its two Configurations, with p if the campaign is closed."""
    chosen = (view.details.get("p_values") or {}).get("primary") or {}
    pair = [chosen.get("first"), chosen.get("second")]
    found = view.details["comparisons"]
    for one in found:
        change = one[view.criterion.value].get(name)
        if (
            not change
            or not (change["items"] or change.get("reason"))
            or (len(found) > 1 and [one["first"], one["second"]] != pair)
        ):
            continue
        said = _("%(difference)s from %(first)s to %(second)s (%(interval)s)") % {
            "difference": say_share(change["value"], signed=True),
            "interval": say_interval(change["low"], change["high"], signed=True),
            "first": one["first"],
            "second": one["second"],
        }
        if change.get("reason"):
            return f"{one['first']}, {one['second']}: {say_reason(change)}"
        if is_closed(view) and change["p_value"] is not None:
            return f"{said}, {say_p_is(change['p_value'])}. {explain_p(change)}".removesuffix(". ")
        return said
    return ""


def _plot(view: ReportView, *, signed: bool) -> Plot:
    names = [
        one
        for one in view.definitions
        if (one["name"] in SIGNED) is signed
        and one["name"] not in _NOT_DRAWN
        and any(
            is_part_of_study(view.figure(place, one["name"])) for place in range(len(view.arms))
        )
    ]
    rows = [
        (
            one["name"],
            _(one["label"]),
            [view.estimate(place, one["name"]) for place in range(len(view.arms))],
        )
        for one in names
    ]
    ends = [
        end
        for _key, _label, estimates in rows
        for one in estimates
        for end in (one.value, one.low, one.high, one.least, one.most)
    ]
    forest = draw_forest(rows, scale_of_differences(ends) if signed else scale_of_shares())
    texts = {one["name"]: _(one["text"]) for one in names}
    return Plot(
        [
            PlotRow(
                row,
                list(_values(view, row.key, signed=signed)),
                row.key == view.details["primary_figure"],
                row.key in ORACLES,
                texts[row.key],
            )
            for row in forest.rows
        ],
        forest,
    )


def _values(view: ReportView, name: str, *, signed: bool) -> Iterator[tuple[int, str, str, str]]:
    for place in range(len(view.arms)):
        figure = view.figure(place, name)
        if figure["value"] is not None or range_of(figure) is not None:
            shown = show_figure(figure, signed=signed)
            yield place + 1, shown.value, shown.interval, shown.ratio


def _matrices(view: ReportView) -> Iterator[Matrix]:
    for place, arm in enumerate(view.arms):
        if not has_assessor(view, arm):
            continue
        card = view.part(arm, "assessor")
        right, wrong = card["right"], card["wrong"]
        cells = draw_matrix(
            Counts(
                right.get("correct", 0),
                wrong.get("correct", 0),
                right.get("incorrect", 0),
                wrong.get("incorrect", 0),
            )
        )
        keys = {
            "passed_right": "correct-right",
            "passed_wrong": "correct-wrong",
            "flagged_right": "incorrect-right",
            "flagged_wrong": "incorrect-wrong",
        }
        recall = view.figure(place, "assessor_recall")
        unknown = right.get("unknown", 0) + wrong.get("unknown", 0)
        never = right.get("never_assessed", 0) + wrong.get("never_assessed", 0)
        yield Matrix(
            arm,
            place + 1,
            cells,
            {name: view.link(arm["name"], cell=key) for name, key in keys.items()},
            say_share(recall["value"]),
            [
                *([_("%s unknown") % f"{unknown:,}"] if unknown else []),
                *([_("%s never assessed") % f"{never:,}"] if never else []),
            ],
        )


def _flows(view: ReportView) -> Iterator[ArmFlow]:
    words = FlowWords(
        right=_("right"),
        wrong=_("wrong"),
        survived=_("stayed right"),
        broken=_("broken"),
        fixed=_("fixed"),
        still_wrong=_("stayed wrong"),
    )
    for place, arm in enumerate(view.arms):
        fixed, broken = view.figure(place, "fixed"), view.figure(place, "broken")
        net = view.figure(place, "net")
        if not any(is_part_of_study(one) for one in (fixed, broken)):
            continue
        counts = FlowCounts(
            survived=broken["denominator"] - broken["numerator"],
            broken=broken["numerator"],
            fixed=fixed["numerator"],
            still_wrong=fixed["denominator"] - fixed["numerator"],
        )
        # Omit the chart if no script was refined, because refinement could not fix or break anything.
        if not any(row["round"] and row["drafts"] for row in view.part(arm, "gain")):
            continue
        flow = draw_flow(counts, words)
        if flow:
            yield ArmFlow(
                arm,
                place + 1,
                flow,
                say_ratio(fixed["numerator"], fixed["denominator"]),
                say_ratio(broken["numerator"], broken["denominator"]),
                _say_net(net),
            )


def _say_net(net: Json) -> str:
    shown = show_figure(net, signed=True)
    return f"{shown.value} ({shown.interval})"


def _agreement(view: ReportView) -> Iterator[StageAgreement]:
    for stage, one in view.agreement.items():
        if not one["items"]:
            continue
        yield StageAgreement(
            key=stage,
            label=str(STAGES[stage]),
            items=one["items"],
            alpha=say_coefficient(one["krippendorff_alpha"]),
            interval=say_coefficients(one["low"], one["high"]) if one["low"] is not None else "",
            undefined=_(one["undefined"]) if one["undefined"] else "",
            heat=heat_of(one) if len(names_of(one)) <= MOST_REVIEWERS else None,
        )


def _missing(view: ReportView) -> Iterator[str]:
    """Yield a sentence for each part of the report that has no data in this study."""
    if not _exists(view, "assessor_agreement") and not any(
        has_assessor(view, arm) for arm in view.arms
    ):
        yield _("This study has no assessor, so there are no verdicts.")
    if not _exists(view, "fixed") and not any(
        row["round"] and row["drafts"] for arm in view.arms for row in view.part(arm, "gain")
    ):
        yield _("This study has no refined scripts, so nothing was fixed or broken.")
    if not any(one["items"] for one in view.report["agreement"].values()):
        yield _(
            "No item was scored by two reviewers. To measure agreement, have items scored "
            "by more than one reviewer."
        )


def _exists(view: ReportView, name: str) -> bool:
    """Return whether the objects of a figure exist in any Configuration, even if no score is final yet."""
    return any(is_part_of_study(view.figure(place, name)) for place in range(len(view.arms)))
