"""Template filters of a study's numbers: shares, differences of shares, coefficients, p values."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def per_cent(share: float | None) -> str:
    """A share of 0 to 1 in percent with one decimal."""
    return "–" if share is None else f"{100 * share:.1f} %"


@register.filter
def per_cent_signed(share: float | None) -> str:
    """A difference of shares in percentage points, with its sign."""
    return "–" if share is None else f"{100 * share:+.1f} %".replace("-", "−")


@register.filter
def coefficient(value: float | None) -> str:
    """A kappa or an alpha with three decimals."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


@register.filter
def p_value(value: float | None) -> str:
    """A p value with four decimals, or that it is less."""
    if value is None:
        return "–"
    return f"{value:.4f}" if value >= 0.0001 else "< 0.0001"
