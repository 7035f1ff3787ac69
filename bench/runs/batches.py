"""A study of 200 items through Message Batches: worker killed twice, one batch expired; both books, and the price."""

from __future__ import annotations

import os
import time

from django.contrib.auth.models import User

from bench.figures import Figure
from tests.flow.storm import storm
from tests.flow.through_batches import EXPIRES, Books, carry_through, prepare_study

ITEMS = int(os.environ.get("BENCH_BATCH_ITEMS", "200"))
_PATIENCE = 600.0  # seconds


def measure() -> list[Figure]:
    """The study, and what both books say at its end."""
    os.environ["SCRIPTSMITH_BATCH_LOOK_SECONDS"] = "1"
    os.environ["SCRIPTSMITH_BATCH_WAIT_SECONDS"] = "60"
    prepare_study(ITEMS, by=User.objects.create_superuser("bench-manager"))
    with storm(os.environ["DATABASE_URL"], latency=0, lease=5, faults=[EXPIRES]) as product:
        began = time.monotonic()
        books = carry_through(product, seconds=_PATIENCE)
        seconds = time.monotonic() - began
    return [*_figures(books), {"what": "seconds, of batches of 2 s", "value": seconds, "held": ""}]


def _figures(books: Books) -> list[Figure]:
    figures = [
        ("items", sum(books.items.values()), str(ITEMS)),
        ("of them ready for review", books.items.get("open", 0), str(ITEMS)),
        ("message batches", books.batches, ""),
        ("requests that expired with their batch", books.expired, "at least 1"),
        ("calls with an answer in the ledger", books.answered, ""),
        ("requests that the model answered", books.billed, str(books.answered)),
        ("questions that it answered twice", books.billed_twice, "0"),
        ("calls answered twice in the ledger", books.answered_twice, "0"),
        ("answered by the model, not in the ledger", books.unknown, "0"),
        ("batches of the model, not in the ledger", books.created_twice, "0"),
        ("paid, as the report says, micro-dollars", books.paid, ""),
        ("the same tokens at the full price", books.full_price, ""),
        ("share that was paid", books.paid / books.full_price, "0.5"),
    ]
    return [{"what": what, "value": float(value), "held": held} for what, value, held in figures]


def holds(figures: list[Figure]) -> bool:
    """Whether every item was finished, nothing was asked twice, and half was paid."""
    found = {figure["what"]: figure["value"] or 0.0 for figure in figures}
    return (
        found["of them ready for review"] == found["items"] == ITEMS
        and found["requests that the model answered"] == found["calls with an answer in the ledger"]
        and not found["questions that it answered twice"]
        and not found["batches of the model, not in the ledger"]
        and abs(found["share that was paid"] - 0.5) < 0.001
    )
