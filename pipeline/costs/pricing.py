"""Calculate the cost of a reply's tokens."""

from __future__ import annotations

from datetime import date

from pipeline.llm.types import Usage
from pipeline.models import Price


def price_on(day: date, *, endpoint: int, model: str) -> Price | None:
    """Return the price of a model on a day, or None if no price was known."""
    known = Price.objects.filter(endpoint=endpoint, model=model, since__lte=day)
    return known.order_by("-since").first()


# A request in a Message Batch costs half of the direct price.
BATCHES_DIVISOR = 2
_MILLION = 1_000_000


def cost_of(usage: Usage, price: Price, *, in_batch: bool = False) -> int:
    """Return the cost in micro-dollars, rounded half up. Prices are per million tokens, halved in a Message Batch."""
    total = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    )
    divisor = _MILLION * (BATCHES_DIVISOR if in_batch else 1)
    return (total + divisor // 2) // divisor
