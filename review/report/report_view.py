"""A view of a report's document under one criterion, with or without links to items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from review.report.charts.forest import Estimate
from review.report.words import NOTHING, say_interval, say_ratio, say_share
from review.study import Criterion, Stage

Json = Mapping[str, Any]  # a part of the document

SIGNED = frozenset({"net"})


@dataclass(frozen=True)
class ShownFigure:
    """The text of a figure: its value, interval and ratio.

    If excluding open items would bias the value, `value` is the range over all scored items, `interval` is the
    post-stratified value, and the ratio is labeled *closed items only*.
    """

    value: str
    interval: str
    ratio: str
    is_range: bool


def show_figure(figure: Json, *, signed: bool = False) -> ShownFigure:
    ratio = say_ratio(figure["numerator"], figure["denominator"])
    if (found := range_of(figure)) is not None:
        return ShownFigure(
            say_interval(*found, signed=signed),
            _("post-stratified %s") % say_share(figure["post_stratified"], signed=signed),
            _("%s closed items only") % ratio,
            is_range=True,
        )
    return ShownFigure(
        say_share(figure["value"], signed=signed),
        say_interval(figure["low"], figure["high"], signed=signed),
        ratio,
        is_range=False,
    )


@dataclass(frozen=True)
class ReportView:
    """A report's document and the selected criterion. The URLs are empty if the reader can't view the items."""

    report: Json
    criterion: Criterion
    items_url: str = ""
    changes_url: str = ""  # URL of the changes that reviewers made to tests

    @property
    def details(self) -> Json:
        found: Json = self.report["details"]
        return found

    @property
    def arms(self) -> Sequence[Json]:
        """Return the details of each Configuration without its figures, in the order of `configurations`."""
        found: Sequence[Json] = self.details["arms"]
        return found

    @property
    def texts(self) -> Json:
        found: Json = self.details["texts"]
        return found

    @property
    def definitions(self) -> Sequence[Json]:
        found: Sequence[Json] = self.details["figures"]
        return found

    @property
    def agreement(self) -> dict[str, Json]:
        """Return the agreement by stage, in scoring order. The keys of a snapshot are in alphabetical order."""
        found: Json = self.report["agreement"]
        return {stage.value: found[stage.value] for stage in Stage if stage.value in found}

    def label(self, name: str) -> str:
        return next((one["label"] for one in self.definitions if one["name"] == name), name)

    def figure(self, place: int, name: str) -> Json:
        """Return a figure of the Configuration with index `place`."""
        found: Json = self.report["configurations"][place][self.criterion.value][name]
        return found

    def part(self, arm: Json, name: str) -> Any:
        """Return a Configuration's part `name` under the criterion."""
        return arm[self.criterion.value][name]

    def link(self, arm: str, **which: str) -> str:
        """Return a link to the items behind a Configuration's figure or table cell, or an empty string."""
        if not self.items_url:
            return ""
        query = {"criterion": self.criterion.value, "configuration": arm, **which}
        return f"{self.items_url}?{urlencode(query)}"

    def estimate(self, place: int, name: str, *, title: str = "") -> Estimate:
        """Return a Configuration's figure as an estimate for a forest plot."""
        figure = self.figure(place, name)
        shown = show_figure(figure, signed=name in SIGNED)
        words = f"{title or self.arms[place]['name']}: {shown.value}"
        if shown.interval != NOTHING:
            words += f" ({shown.interval})"
        is_range = range_of(figure) is not None
        least, most = range_of(figure) or bounds_of(figure)
        if figure["value"] is None and not is_range:
            # Without final items, the bounds would be a line across the whole chart.
            least = most = None
        return Estimate(
            series=place + 1,
            title=words,
            value=figure["post_stratified"] if is_range else figure["value"],
            low=None if is_range else figure["low"],
            high=None if is_range else figure["high"],
            least=least,
            most=most,
        )


def bounds_of(figure: Json) -> tuple[float | None, float | None]:
    """Return the lowest and highest possible value of a figure, or (None, None) if no items are open."""
    bounds = figure.get("bounds")
    if not bounds or bounds[0] is None or bounds[0] == bounds[1]:
        return None, None
    return bounds[0], bounds[1]


def range_of(figure: Json) -> tuple[float, float] | None:
    """Return the range over all scored items if excluding open items would bias the figure, or None otherwise."""
    found = figure.get("range")
    return (found[0], found[1]) if found and found[0] is not None else None
