"""A share with its interval, as the page of threats shows it."""

from __future__ import annotations

from dataclasses import dataclass

from review.report.report_view import Json
from review.report.sections.section import ChartPoint


@dataclass(frozen=True)
class ShownShare:
    """`left`, `right` and `at` are places of 0 to 100 in its drawing; all values None where nothing is counted."""

    numerator: int
    denominator: int
    value: float | None
    low: float | None
    high: float | None

    @property
    def left(self) -> float:
        return round(100 * (self.low or 0), 3)

    @property
    def width(self) -> float:
        return round(100 * ((self.high or 0) - (self.low or 0)), 3)

    @property
    def at(self) -> float:
        return round(100 * (self.value or 0), 3)

    @property
    def point(self) -> ChartPoint | None:
        return None if self.value is None else (self.value, self.low, self.high)


def show_share(share: Json) -> ShownShare:
    names = ("numerator", "denominator", "value", "low", "high")
    return ShownShare(*(share[name] for name in names))
