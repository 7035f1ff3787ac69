"""Format the numbers of a report: shares, differences, intervals, coefficients and p values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

NOTHING = "–"
POINTS = "pp"  # percentage points, the unit of differences between shares


def say_share(value: float | None, *, signed: bool = False) -> str:
    """Format a share from 0 to 1 as a percentage or, if `signed`, a difference of shares in percentage points."""
    if value is None:
        return NOTHING
    return f"{_signed(value)} {POINTS}" if signed else f"{100 * value:.1f}%"


def _signed(value: float) -> str:
    """Format a difference in percentage points with its sign. Zero has no sign."""
    text = f"{100 * value:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "−")


def say_points(value: float | None) -> str:
    """Format an unsigned difference of shares, such as a half-width, in percentage points."""
    return NOTHING if value is None else f"{100 * value:.1f} {POINTS}"


def say_interval(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """Format an interval of shares or signed differences. The unit follows the upper end."""
    if low is None or high is None:
        return NOTHING
    if signed:
        return f"{_signed(low)} to {_signed(high)} {POINTS}"
    return f"{100 * low:.1f} to {100 * high:.1f}%"


def say_coefficient(value: float | None) -> str:
    """Format a kappa or alpha to three decimal places."""
    return NOTHING if value is None else f"{value:.3f}".replace("-", "−")


def say_coefficients(low: float | None, high: float | None) -> str:
    """Format an interval of coefficients."""
    if low is None or high is None:
        return NOTHING
    return f"{say_coefficient(low)} to {say_coefficient(high)}"


def say_p(value: float | None) -> str:
    """Format a p value to four decimal places. Format 1 as 1.00 and very small values as < 0.0001."""
    if value is None:
        return NOTHING
    if value < 0.0001:
        return "< 0.0001"
    return "1.00" if value > 0.99995 else f"{value:.4f}"


def say_p_is(value: float) -> str:
    """Format a p value with the letter p, such as p = 0.0312 or p < 0.0001."""
    said = say_p(value)
    return f"p {said}" if said.startswith("<") else f"p = {said}"


def say_ratio(numerator: int, denominator: int) -> str:
    return f"{numerator:,}/{denominator:,}"


def explain_p(change: Mapping[str, Any]) -> str:
    """Return why the interval and p seem to disagree, or an empty string if they agree or either is not shown."""
    low, high, p_value = (change.get(name) for name in ("low", "high", "p_value"))
    if low is None or high is None or p_value is None or (low > 0 or high < 0) is (p_value < 0.05):
        return ""
    return _(
        "The interval and p seem to disagree because they use different methods. Newcombe’s interval is approximate, "
        "and the exact test is conservative. Use p for the test and the interval for the size of the effect."
    )


def say_chosen(figure: str, chosen: Mapping[str, Any] | None) -> str:
    """Return a sentence with the date of the choice of the primary outcome, and the scores and views until then."""
    at = parse_datetime(chosen["at"]) if chosen else None
    if not figure:
        return _("No primary outcome was chosen.")
    if not chosen or not at:
        return _("The date when the primary outcome was chosen is not recorded.")
    if not chosen["scores"] and not chosen["views"]:
        return _("The primary outcome was fixed at the start (%s).") % f"{at:%Y-%m-%d %H:%M}"
    return _(
        "The primary outcome was chosen after %(scores)s scores and %(views)s report views "
        "(%(at)s)."
    ) % {
        "scores": f"{chosen['scores']:,}",
        "views": f"{chosen['views']:,}",
        "at": f"{at:%Y-%m-%d %H:%M}",
    }


def say_pilot(pilot: Mapping[str, Any] | None) -> str:
    """Return a note on whether the figures include the pilot's items, or an empty string without a pilot."""
    if not pilot or not pilot["items"]:
        return ""
    said = _("%s pilot items included") if pilot["counts"] else _("%s pilot items excluded")
    return said % f"{pilot['items']:,}"


def say_reason(change: Mapping[str, Any]) -> str:
    """Return the reason why a comparison is not available, and the number of its open cases."""
    said, is_open = _(change["reason"]), change.get("open")
    return f"{said} ({is_open:,}/{is_open + change['items']:,})" if is_open else said
