"""The figures on the calibration page, in the format that the charts and tables need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from catalog.calibration.metrics import (
    FEW,
    Bin,
    Case,
    Point,
    calibration_error,
    draw_curve,
    fill_bins,
    point_at,
    suggest_threshold,
)
from catalog.relevance import RelevanceModel
from catalog.retrieval.scoring import HeldOut, held_out_figures

Values = tuple[float, float | None, float | None]
Lines = list[tuple[str, list[Values | None]]]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Label statistics for a scoring."""

    cases: int
    now: Point  # at the current threshold
    error: float | None
    curve: Sequence[Point]
    curve_places: Sequence[str]
    curve_lines: Lines
    bins: Sequence[Bin]
    bin_places: Sequence[str]
    bin_lines: Lines
    held_out: HeldOut | None
    wanted: float | None  # percent
    suggested: Point | None

    @property
    def are_drawn(self) -> bool:
        """Return whether there are enough labels for a curve. With fewer labels, the curve would only show noise."""
        return self.cases >= FEW

    @property
    def least_drawn(self) -> int:
        return FEW

    @property
    def is_few(self) -> bool:
        """Return whether there are too few labels for a suggestion."""
        return self.suggested is not None and self.suggested.share.count < FEW


def show_figures(
    cases: Sequence[Case], model: RelevanceModel, *, wanted: float | None = None
) -> Figures:
    """Return the calibration figures of these cases under this scoring. `wanted` is the target precision in percent."""
    curve, bins = draw_curve(cases), fill_bins(cases)
    held_out = held_out_figures(model.version)
    places = [f"{step}0%" for step in range(1, 11)]
    return Figures(
        cases=len(cases),
        now=point_at(cases, model.match_threshold),
        error=calibration_error(cases),
        curve=curve,
        curve_places=places,
        curve_lines=_curve_lines(curve, held_out, len(places), are_drawn=len(cases) >= FEW),
        bins=bins,
        bin_places=[f"{one.low:.1f}–{one.high:.1f}" for one in bins],
        bin_lines=[
            (_("actual"), [_values(one.share.value, one.share.interval) for one in bins]),
            (_("predicted"), [(one.promised, None, None) for one in bins]),
        ],
        held_out=held_out,
        wanted=wanted,
        suggested=suggest_threshold(cases, wanted_precision=wanted / 100) if wanted else None,
    )


def _curve_lines(
    curve: Sequence[Point], held_out: HeldOut | None, places: int, *, are_drawn: bool
) -> Lines:
    ours: list[Values | None] = [_values(one.share.value, one.share.interval) for one in curve]
    lines: Lines = [(_("your labels"), ours + [None] * (places - len(ours)))] if are_drawn else []
    if held_out:
        public = held_out["precision"]
        shipped: list[Values | None] = [
            (public[f"{step}0"], None, None) if f"{step}0" in public else None
            for step in range(1, places + 1)
        ]
        lines.append((_("public pairs (benchmark)"), shipped))
    return lines


def _values(value: float | None, interval: tuple[float, float] | None) -> Values | None:
    if value is None or interval is None:
        return None
    return value, interval[0], interval[1]
