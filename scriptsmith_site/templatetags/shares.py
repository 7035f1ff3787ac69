"""Template filters for the numbers in a study."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def per_cent(share: float | None) -> str:
    """Format a proportion from 0 to 1 as a percentage with one decimal."""
    return "–" if share is None else f"{100 * share:.1f}%"


@register.filter
def percentage_points(difference: float | None) -> str:
    """Format a difference between proportions in percentage points with one decimal."""
    return "–" if difference is None else f"{100 * difference:.1f} pp"
