"""The items for the comparisons: a flagged script in the review queue and a flagged script in a study."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from review import services
from review.models import Item
from tests.make import make_run
from tests.people import make_person
from tests.review.blinding import rewriting
from tests.review.maker import add_configuration, make_study


@pytest.fixture
def asker(db: None) -> User:
    return make_person("sven", "reviewer")


@pytest.fixture
def live(asker: User) -> Item:
    """Return an unscored flagged script in the review queue. Another user requested it, and two others surround it."""
    items = [
        _queued(asker, name, flagged=flagged)
        for name, flagged in (("a", False), ("b", True), ("c", True))
    ]
    return items[1]


def _queued(asker: User, name: str, *, flagged: bool) -> Item:
    run = make_run(
        statement=f"List the files of {name}",
        by=asker,
        script=f"find /srv/{name} -name '*X*'\n",
        verdict="incorrect" if flagged else "correct",
        feedback="- Use -path, not -name." if flagged else "",
        refined=f"find /srv/{name} -path '*X*'\n" if flagged else "",
    )
    rewriting.add_work(run)
    return services.take_in(run.pk)


@pytest.fixture
def studied(manager: User, reviewer: User) -> Item:
    """Return a flagged script in a study with two reviewers, three other items and a second arm that can run."""
    other = make_person("olga", "reviewer")
    add_configuration("second-arm")
    campaign = make_study(by=manager, reviewers=[reviewer, other], items=3, overlap=2)
    item = campaign.items.order_by("pk")[1]
    rewriting.add_work(item.run)
    return item
