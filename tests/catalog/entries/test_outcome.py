"""Tests for reporting the outcome of a use. *Made it worse* suspends the entry immediately."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from catalog.entries import services
from catalog.models import Use, Version
from catalog.retrieval import services as retrieval
from core.errors import NotAllowedNow
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db

Say = Callable[..., int]


@pytest.fixture
def version() -> Version:
    return shelve("Restart the print spooler")


@pytest.fixture
def use(version: Version, reviewer: User) -> Use:
    return services.record_use(version, by=reviewer, values={}).use


@pytest.fixture(params=["page", "api"])
def say(request: pytest.FixtureRequest, client_for: ClientFor) -> Say:
    """Return a function that reports an outcome on the page or through the API. It returns the status, 200 on
    success."""

    def post(user: User, use: Use, **data: str) -> int:
        if request.param == "page":
            status = client_for(user).post(f"/catalogue/uses/{use.pk}/outcome/", data).status_code
            return 200 if status == 302 else status
        address = f"/api/v1/uses/{use.pk}/outcome/"
        return client_for(user).post(address, data, content_type="application/json").status_code

    return post


def test_an_outcome_is_kept(say: Say, use: Use, reviewer: User) -> None:
    for outcome in ("no_effect", "worked"):
        assert say(reviewer, use, outcome=outcome) == 200
        use.refresh_from_db()
        assert (use.outcome, use.outcome_at is None) == (outcome, False)
        assert use.version.entry.suspended_at is None


def test_made_it_worse_suspends_the_entry_at_once(say: Say, use: Use, reviewer: User) -> None:
    assert retrieval.retrieve("Restart the print spooler").answer == "match"
    assert say(reviewer, use, outcome="worse", incident="INC-42") == 200
    entry = use.version.entry
    entry.refresh_from_db()
    assert entry.suspended_by == reviewer
    assert "INC-42" in entry.suspended_why
    assert retrieval.retrieve("Restart the print spooler").matches == ()


def test_worse_without_incident_and_unknown_outcomes_are_refused(
    say: Say, use: Use, reviewer: User
) -> None:
    assert say(reviewer, use, outcome="worse") == 422
    assert say(reviewer, use, outcome="great") == 422
    use.refresh_from_db()
    assert use.outcome == ""
    use.version.entry.refresh_from_db()
    assert use.version.entry.suspended_at is None


def test_others_cannot_say_it(say: Say, use: Use, second_reviewer: User) -> None:
    assert say(second_reviewer, use, outcome="worked") == 404
    with pytest.raises(PermissionDenied):
        services.record_outcome(use, outcome="worked", by=second_reviewer)


def test_worked_may_become_worse_but_not_the_other_way(use: Use, reviewer: User) -> None:
    services.record_outcome(use, outcome="worked", by=reviewer)
    services.record_outcome(use, outcome="worse", incident="INC-1", by=reviewer)
    with pytest.raises(NotAllowedNow):
        services.record_outcome(use, outcome="worked", by=reviewer)


def test_who_copied_it_lately_is_told(
    use: Use,
    version: Version,
    reviewer: User,
    second_reviewer: User,
    curator: User,
    client_for: ClientFor,
) -> None:
    services.record_use(version, by=second_reviewer, values={})
    long_ago = services.record_use(version, by=curator, values={}).use
    Use.objects.filter(pk=long_ago.pk).update(at=timezone.now() - timedelta(days=8))
    rated = services.record_outcome(use, outcome="worse", incident="INC-9", by=reviewer)
    assert rated.told == (second_reviewer,)
    for address in ("/", "/catalogue/"):
        page = client_for(second_reviewer).get(address).text
        assert "You recently copied a script that is now suspended" in page and "INC-9" in page
    for other in (curator, reviewer):
        assert "You recently copied a script" not in client_for(other).get("/").text


def test_the_entry_page_asks_who_has_not_said_it_yet(
    use: Use, version: Version, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    address = f"/catalogue/{version.entry.slug}/"
    assert "How did it go?" in client.get(address).text
    services.record_outcome(use, outcome="worked", by=reviewer)
    shown = client.get(address).text
    assert "How did it go?" not in shown
    assert "worked 1 of 1" in shown
