"""What the tokens of one reply cost."""

from __future__ import annotations

from pipeline.llm.types import Usage
from pipeline.models import Price


def cost_of(usage: Usage, price: Price) -> int:
    """Micro-dollars from tokens and prices per million, rounded half up; `ledger.attempt_store` has the rule in SQL."""
    total = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    )
    return (total + 500_000) // 1_000_000
