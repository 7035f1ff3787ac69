"""Tests that a study through Message Batches costs half the price, despite two kills and an expired batch."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import connection

from tests.flow.storm import storm
from tests.flow.through_batches import EXPIRES, carry_through, prepare_study

ITEMS = 12


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(300)
def test_every_item_is_finished_no_call_is_made_twice_and_the_report_says_half_the_price(
    manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTSMITH_BATCH_LOOK_SECONDS", "0.5")
    monkeypatch.setenv("SCRIPTSMITH_BATCH_WAIT_SECONDS", "20")
    prepare_study(ITEMS, by=manager)
    url = urlsplit(os.environ["DATABASE_URL"])
    database = url._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    with storm(database, latency=0, lease=3, faults=[EXPIRES]) as product:
        books = carry_through(product, seconds=120)
    assert books.items == {"open": ITEMS}
    assert books.expired == ITEMS - 5
    assert (books.billed_twice, books.answered_twice) == (0, 0)
    assert (books.unknown, books.created_twice) == (0, 0)
    assert books.answered == books.billed
    # The cost of each call is rounded to a micro-dollar.
    assert abs(books.paid - books.full_price / 2) <= books.answered
