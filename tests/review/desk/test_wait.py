"""Waiting for what was asked of the model: the screen says so, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipeline.models import Refinement, Run
from review import services
from review.models import Assignment, Item
from tests.review.desk.test_desk import HTMX, score_next

ClientFor = Callable[[User], Client]
MADE = "Feedback and a rewrite are being made."


@pytest.fixture
def waiting(held: Assignment, reviewer: User) -> Item:
    """The assessor passed the script, the reviewer did not, and asked the model to explain and rewrite."""
    score_next(held.item, reviewer, 0)
    services.ask_for_feedback(held.item, by=reviewer)
    return held.item


def end(item: Item, state: str) -> None:
    Refinement.objects.filter(run=item.run).update(state=state)
    Run.objects.filter(pk=item.run_id).update(state=Run.State.DONE, finished_at=timezone.now())


def poll(client: Client, item: Item) -> tuple[int, str]:
    """What the page asks by itself."""
    answer = client.get(reverse("item-review", args=[item.pk]), {"waits": 1}, headers=HTMX)
    return answer.status_code, answer.text


def test_who_waits_is_told_nothing_new_until_it_is_ready(
    waiting: Item, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    page = client.get(reverse("item-review", args=[waiting.pk])).text
    assert MADE in page and "data-waits" in page
    assert poll(client, waiting) == (204, "")

    end(waiting, "done")

    status, screen = poll(client, waiting)
    assert status == 200
    assert 'data-say="What you asked for is ready."' in screen
    assert "Score it" in screen and "data-waits" not in screen
    # Who stayed goes on by themselves; who comes back later presses the button.
    claim = f'hx-post="{reverse("item-claim", args=[waiting.pk])}" hx-trigger="load"'
    assert claim in screen
    assert claim not in client.get(reverse("item-review", args=[waiting.pk])).text


def test_a_rewrite_that_came_to_nothing_is_said(
    waiting: Item, reviewer: User, client_for: ClientFor
) -> None:
    end(waiting, "failed")

    status, screen = poll(client_for(reviewer), waiting)

    assert status == 200
    assert "The model made no rewrite." in screen and "data-waits" not in screen
    assert 'hx-trigger="load"' not in screen, "it is read first"


@pytest.mark.slow
def test_a_rewrite_that_came_to_nothing_can_be_asked_for_again(
    waiting: Item, reviewer: User, client_for: ClientFor
) -> None:
    client, ask = client_for(reviewer), reverse("item-ask-feedback", args=[waiting.pk])
    end(waiting, "failed")
    assert services.claim_item(waiting, by=reviewer).state == Assignment.State.ACTIVE
    assert ask in client.get(reverse("item-review", args=[waiting.pk])).text

    assert client.post(ask).status_code == 302

    states = Refinement.objects.filter(run=waiting.run).values_list("state", flat=True)
    assert sorted(states) == ["failed", "waiting"]
    assert ask not in client.get(reverse("item-review", args=[waiting.pk])).text


def test_others_do_not_wait_for_it(
    waiting: Item, second_reviewer: User, client_for: ClientFor
) -> None:
    status, screen = poll(client_for(second_reviewer), waiting)

    assert status == 200
    assert MADE not in screen and "data-waits" not in screen


def test_where_nothing_was_asked_for_nothing_is_polled(
    held: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    status, screen = poll(client_for(reviewer), held.item)

    assert status == 200
    assert "data-waits" not in screen
