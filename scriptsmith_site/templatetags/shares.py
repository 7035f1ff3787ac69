"""Template filters of a study's numbers: shares."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def per_cent(share: float | None) -> str:
    """A share of 0 to 1 in percent with one decimal."""
    return "–" if share is None else f"{100 * share:.1f} %"
