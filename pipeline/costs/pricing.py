"""What the tokens of one reply cost."""

from __future__ import annotations

from datetime import date

from pipeline.llm.types import Usage
from pipeline.models import Price


def price_on(day: date, *, endpoint: int, model: str) -> Price | None:
    """The price of a model in force on a day, or None where none was known by then."""
    known = Price.objects.filter(endpoint=endpoint, model=model, since__lte=day)
    return known.order_by("-since").first()


def cost_of(usage: Usage, price: Price) -> int:
    """Micro-dollars from tokens and prices per million, rounded half up."""
    total = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    )
    return (total + 500_000) // 1_000_000
