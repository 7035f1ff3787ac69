"""Run a study through message batches with two kills and an expired batch, and compare both ledgers."""

from __future__ import annotations

import os
import time

from django.contrib.auth.models import User

from bench.figures import Figure, figure, size
from tests.flow.storm import storm
from tests.flow.through_batches import EXPIRES, Books, carry_through, prepare_study

ITEMS = size(full=200, quick=60)
_PATIENCE = 600.0  # seconds


def measure() -> list[Figure]:
    """Run the study, and compare the product's ledger with the provider's ledger."""
    os.environ["SCRIPTSMITH_BATCH_LOOK_SECONDS"] = "1"
    os.environ["SCRIPTSMITH_BATCH_WAIT_SECONDS"] = "60"
    prepare_study(ITEMS, by=User.objects.create_superuser("bench-manager"))
    with storm(os.environ["DATABASE_URL"], latency=0, lease=5, faults=[EXPIRES]) as product:
        began = time.monotonic()
        books = carry_through(product, seconds=_PATIENCE)
        seconds = time.monotonic() - began
    return [*_figures(books), figure("seconds, of batches of 2 s", seconds)]


def _figures(books: Books) -> list[Figure]:
    return [
        figure("items", sum(books.items.values()), exactly=ITEMS),
        figure("items ready for review", books.items.get("open", 0), exactly=ITEMS),
        figure("message batches", books.batches),
        figure("requests that expired with their batch", books.expired, least=1),
        figure("calls with an answer in the ledger", books.answered),
        figure("requests that the model answered", books.billed, exactly=books.answered),
        figure("requests that the model answered twice", books.billed_twice, exactly=0),
        figure("calls answered twice in the ledger", books.answered_twice, exactly=0),
        figure("answered by the model, not in the ledger", books.unknown, exactly=0),
        figure("batches of the model, not in the ledger", books.created_twice, exactly=0),
        figure("paid according to the report, micro-dollars", books.paid),
        figure("the same tokens at the full price", books.full_price),
        figure("share paid", books.paid / books.full_price, least=0.499, most=0.501),
    ]
