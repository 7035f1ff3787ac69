"""The axis of a chart: its range, its labels and the position of a value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from review.report.words import POINTS

_SIGNED_ENDS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Tick:
    """A label below the axis. `at` is its position in percent."""

    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high`. `ticks` are the labeled values."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_signed: bool = False
    is_share: bool = True

    def at(self, value: float) -> float:
        """Return the position of a value in percent from the left. Values outside the range are clamped."""
        inside = min(max(value, self.low), self.high)
        return round(100 * (inside - self.low) / (self.high - self.low), 2)

    def labels(self) -> list[Tick]:
        return [Tick(self.at(value), self._say(value)) for value in self.ticks]

    @property
    def zero(self) -> float | None:
        """Return the position of zero on a signed axis, or None on an unsigned axis."""
        return self.at(0) if self.is_signed else None

    def _say(self, value: float) -> str:
        if not self.is_share:
            return f"{value:g}".replace("-", "−")
        sign = "+" if self.is_signed and value > 0 else ""
        unit = f" {POINTS}" if self.is_signed else "%"
        return f"{sign}{round(100 * value, 3):g}{unit}".replace("-", "−")


def scale_of_shares() -> Scale:
    """Return an axis from 0 to 100%, because a truncated axis would exaggerate differences."""
    return Scale(0, 1, (0, 0.25, 0.5, 0.75, 1))


def scale_of_differences(values: Iterable[float | None], *, is_share: bool = True) -> Scale:
    """Return an axis that is symmetric around zero and includes these values.

    For shares, the axis is limited to 100 percentage points on each side.
    """
    most = max((abs(value) for value in values if value is not None), default=0)
    end = next((end for end in _SIGNED_ENDS if end >= most), _SIGNED_ENDS[-1])
    if is_share:
        end = min(end, 1.0)
    return Scale(-end, end, (-end, -end / 2, 0, end / 2, end), is_signed=True, is_share=is_share)
