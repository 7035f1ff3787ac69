"""Tests for a rewrite that the page waits for and for shorter feedback, both requested by a reviewer."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipeline.models import Endpoint, Refinement, Run, Shortening
from review import services
from review.models import Assignment, Item
from tests.keys import shown
from tests.review.desk.test_desk import HTMX, score_next, send
from tests.review.maker import ClientFor

MADE = "The model is writing feedback or a rewrite."


@pytest.fixture
def waiting(held: Assignment, reviewer: User) -> Item:
    """Return an item that the assessor passed. The reviewer rejected it and requested feedback and a rewrite."""
    score_next(held.item, reviewer, 0)
    services.ask_for_feedback(held.item, by=reviewer)
    return held.item


def end(item: Item, state: str) -> None:
    Refinement.objects.filter(run=item.run).update(state=state)
    Run.objects.filter(pk=item.run_id).update(state=Run.State.DONE, finished_at=timezone.now())


def poll(client: Client, item: Item) -> tuple[int, str]:
    """Send the page's polling request, and return the status and the text."""
    answer = client.get(reverse("item-review", args=[item.pk]), {"waits": 1}, headers=HTMX)
    return answer.status_code, answer.text


def test_waiting_reviewer_is_told_once_ready(waiting: Item, as_reviewer: Client) -> None:
    page = as_reviewer.get(reverse("item-review", args=[waiting.pk])).text
    assert MADE in page and "data-waits" in page
    assert poll(as_reviewer, waiting) == (204, "")

    end(waiting, "done")

    status, screen = poll(as_reviewer, waiting)
    assert status == 200
    assert 'data-say="The rewrite that you requested is ready."' in screen
    assert "Score it" in screen and "data-waits" not in screen
    # The open page loads the item automatically. A reviewer who returns later presses the button.
    claim = f'hx-post="{reverse("item-claim", args=[waiting.pk])}" hx-trigger="load"'
    assert claim in screen
    assert claim not in as_reviewer.get(reverse("item-review", args=[waiting.pk])).text


def test_a_rewrite_that_came_to_nothing_is_said(waiting: Item, as_reviewer: Client) -> None:
    end(waiting, "failed")

    status, screen = poll(as_reviewer, waiting)

    assert status == 200
    assert "The model didn&#x27;t produce a rewrite." in screen and "data-waits" not in screen
    assert 'hx-trigger="load"' not in screen, "it is read first"


def test_failed_rewrite_is_repeated(waiting: Item, reviewer: User, client_for: ClientFor) -> None:
    client, ask = client_for(reviewer), reverse("item-ask-feedback", args=[waiting.pk])
    end(waiting, "failed")
    assert services.claim_item(waiting, by=reviewer).state == Assignment.State.ACTIVE
    assert ask in client.get(reverse("item-review", args=[waiting.pk])).text

    assert client.post(ask).status_code == 302

    states = Refinement.objects.filter(run=waiting.run).values_list("state", flat=True)
    assert sorted(states) == ["failed", "waiting"]
    assert ask not in client.get(reverse("item-review", args=[waiting.pk])).text


def test_others_do_not_wait_for_it(
    waiting: Item, put_in_queue: Callable[..., Item], reviewer: User, second_reviewer: User,
    client_for: ClientFor,
) -> None:  # fmt: skip
    other = services.claim_item(put_in_queue(statement="Show the uptime"), by=reviewer).item
    for person, item in ((second_reviewer, waiting), (reviewer, other)):
        status, screen = poll(client_for(person), item)
        assert status == 200
        assert MADE not in screen and "data-waits" not in screen


LONG = "This is wrong for many reasons. " * 20


@pytest.fixture
def scored(held_flagged: Assignment, reviewer: User) -> Item:
    score_next(held_flagged.item, reviewer, 0)
    return held_flagged.item


def test_it_is_asked_for_and_shown_beside_what_was_typed(scored: Item, as_reviewer: Client) -> None:
    status, page = send(as_reviewer, scored, "item-shorten", feedback=LONG)
    asked = Shortening.objects.get()
    assert status == 200 and reverse("item-shorter", args=[scored.pk, asked.pk]) in page
    Shortening.objects.filter(pk=asked.pk).update(state="done", shorter="- <b>Wrong</b>.")
    page = as_reviewer.get(reverse("item-shorter", args=[scored.pk, asked.pk])).text
    assert "- &lt;b&gt;Wrong&lt;/b&gt;." in page and "Shortened from 120 to" in page
    assert "hx-trigger" not in page, "it has stopped asking"


def test_feedback_without_result_stays_on_page(scored: Item, as_reviewer: Client) -> None:
    for feedback, said in (("Short.", "short enough"), ("", "Write your feedback first")):
        status, page = send(as_reviewer, scored, "item-shorten", feedback=feedback)
        assert status == 422 and said in page
    assert not Shortening.objects.exists()
    page = as_reviewer.post(reverse("item-shorten", args=[scored.pk]), {"feedback": LONG}).text
    assert f"\n{LONG}</textarea>" in page and "The model is shortening your feedback" in page


def test_before_the_score_and_in_other_hands_nothing_is_asked(
    held_flagged: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    item = held_flagged.item
    assert send(client_for(reviewer), item, "item-shorten", feedback=LONG)[0] == 409
    score_next(item, reviewer, 0)
    assert send(client_for(second_reviewer), item, "item-shorten", feedback=LONG)[0] == 409
    assert not Shortening.objects.exists()
    assert send(client_for(reviewer), item, "item-shorten", feedback=LONG)[0] == 200


def test_nobody_reads_what_somebody_else_typed(
    scored: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    send(client_for(reviewer), scored, "item-shorten", feedback=LONG)
    asked = Shortening.objects.get()
    page = reverse("item-shorter", args=[scored.pk, asked.pk])
    for address in (page, f"/api/v1/items/{shown(scored)}/shorten/{asked.pk}/"):
        assert client_for(second_reviewer).get(address).status_code == 404
        assert client_for(reviewer).get(address).status_code == 200


def test_the_button_is_there_only_where_a_model_is(
    scored: Item, reviewer: User, client_for: ClientFor, settings: object
) -> None:
    url = reverse("item-review", args=[scored.pk])
    assert "Shorten it" in client_for(reviewer).get(url).text
    Endpoint.objects.update(enabled=False)
    settings.SCRIPTSMITH_ENDPOINTS = []
    page = client_for(reviewer).get(url).text
    assert "Shorten it" not in page and "data-long-words" in page


def test_the_api_asks_and_says_what_became_of_it(scored: Item, as_reviewer: Client) -> None:
    client, url = as_reviewer, f"/api/v1/items/{shown(scored)}/shorten/"
    made = client.post(url, {"feedback": LONG}, content_type="application/json")
    assert made.status_code == 202 and made.json()["state"] == "waiting"
    assert client.get(f"{url}{made.json()['id']}/").json()["text"] == LONG.strip()
    refused = client.post(url, {"feedback": "Short."}, content_type="application/json")
    assert refused.status_code == 422


def test_request_for_feedback_names_the_real_verdict(
    put_in_queue: Callable[..., Item], reviewer: User, client_for: ClientFor
) -> None:
    said = {}
    for verdict in ("correct", "incorrect", "unknown", ""):
        item = put_in_queue(statement=f"Verdict {verdict}", verdict=verdict)
        services.claim_item(item, by=reviewer)
        score_next(item, reviewer, 0)
        page = client_for(reviewer).get(reverse("item-review", args=[item.pk])).text
        said[verdict] = re.findall("The assessor( passed|'s verdict on| flagged) this script", page)
    assert said == {
        "correct": [" passed"],
        "incorrect": [" flagged"],
        "unknown": ["'s verdict on"],
        "": ["'s verdict on"],
    }
