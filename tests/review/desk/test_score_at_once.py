"""Tests for the same score sent twice at the same time by a double click, a repeated request or two tabs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction

from review import services
from review.blinding.item_queries import lock_item
from review.campaigns.services import states
from review.models import Assignment, Campaign, Item, Score
from tests.locks import wait_for_lock
from tests.review.maker import add_item, make_study

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
Act = Callable[[], object]


def _meanwhile(item: Item, by: User, first: Act, second: Act) -> list[object]:
    """Run `first` in a transaction that locks the item, and return the result of `second`, which waits for the lock."""
    got: list[object] = []

    def work() -> None:
        try:
            got.append(second())
        except Exception as error:
            got.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    with transaction.atomic():
        lock_item(item.pk, by.pk)
        thread.start()
        wait_for_lock()
        first()
    thread.join()
    return got


@pytest.fixture
def given(manager: User, reviewer: User) -> tuple[Assignment, services.ScoreInput]:
    return _claim(make_study(by=manager, reviewers=[reviewer], items=1), reviewer)


def _claim(campaign: Campaign, by: User) -> tuple[Assignment, services.ScoreInput]:
    assignment = services.claim_next(campaign, by=by)
    draft = services.open_item(assignment.item, by).first
    return assignment, services.ScoreInput(stage="script", value=2, seen=draft.pk, fence=1)


def test_another_score_sent_meanwhile_takes_the_place_of_the_first(
    given: tuple[Assignment, services.ScoreInput], reviewer: User
) -> None:
    assignment, score = given

    def send(value: int) -> Act:
        return lambda: services.submit_score(
            assignment.item, replace(score, value=value), by=reviewer
        )

    (second,) = _meanwhile(assignment.item, reviewer, send(0), send(1))
    assert isinstance(second, Score), second
    values = Score.objects.filter(item=assignment.item).order_by("pk")
    assert [(one.value, one.current) for one in values] == [(0, False), (1, True)]


def test_what_was_sent_twice_at_once_is_counted_once(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    add_item(campaign, "passed", verdict="correct")
    states.move_campaign(campaign, "open", by=manager)
    campaign.refresh_from_db()
    assignment, score = _claim(campaign, reviewer)

    def send() -> Score:
        return services.submit_score(assignment.item, score, by=reviewer)

    (second,) = _meanwhile(assignment.item, reviewer, send, send)
    assert isinstance(second, Score), second
    assignment.refresh_from_db()
    item = Item.objects.get(pk=assignment.item_id)
    assert (assignment.state, item.done, item.state) == ("submitted", 1, "closed")
