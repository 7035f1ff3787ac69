"""Items in the review queue and claimed items."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from pipeline.models import Run
from review import services
from review.models import Assignment, Item
from tests import people
from tests.make import make_run

boss = people.as_manager


@pytest.fixture
def put_in_queue() -> Callable[..., Item]:
    """Return a function that adds a finished run to the review queue."""

    def make(**details: object) -> Item:
        run: Run = make_run(**details)
        return services.take_in(run.pk)

    return make


@pytest.fixture
def item(db: None, put_in_queue: Callable[..., Item]) -> Item:
    return put_in_queue()


@pytest.fixture
def flagged(db: None, put_in_queue: Callable[..., Item]) -> Item:
    """Return an item with a flagged first draft and a refined draft."""
    return put_in_queue(
        verdict="incorrect",
        script="find /srv -name '*X*'\n",
        feedback="- Use -path, not -name.",
        refined="find /srv -path '*X*'\n",
    )


@pytest.fixture
def held(item: Item, reviewer: User) -> Assignment:
    return services.claim_item(item, by=reviewer)


@pytest.fixture
def held_flagged(flagged: Item, reviewer: User) -> Assignment:
    return services.claim_item(flagged, by=reviewer)
