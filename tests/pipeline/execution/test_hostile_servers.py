"""Tests for how runs with a misbehaving endpoint end, what users see, and what the ledger records."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from pipeline.execution import run_worker
from pipeline.models import Attempt, Endpoint, ModelCall, Price, Run, Spending
from tests.hostile import Hostile
from tests.people import ClientFor
from tests.pipeline.rows import queue_run

STATEMENT = "Count the files in /var/tmp/exports"
NOT_BILLED = "The call was not billed."
OF_NO_USE = "The unusable reply was billed if the server charges for calls."
NO_REPLY = "The call may have been billed despite the missing reply."

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Seen:
    run: Run
    tries: list[Attempt]
    requests: int
    page: str
    ledger: str


@pytest.fixture
def meet(
    hostile: Hostile, client_for: ClientFor, reviewer: User, settings: object
) -> Callable[..., Seen]:
    """Return a function that runs a statement with the hostile server as the demo endpoint."""

    def words_of(page: str) -> str:
        return html.unescape(re.sub(r"<[^>]*>|\s+", " ", page).replace("  ", " "))

    def meet(kind: str, *, seconds: int = 1, advances: int = 1) -> Seen:
        url = hostile.tls_url if kind == "tls" else hostile.url(kind)
        settings.SCRIPTSMITH_DEMO_MODEL_URL = url
        Endpoint.objects.update(timeout_seconds=seconds)
        hostile.requests.clear()
        run = queue_run(STATEMENT, by=reviewer)
        for _ in range(advances):
            run_worker.advance(run.pk)
        run.refresh_from_db()
        client = client_for(reviewer)
        return Seen(
            run=run,
            tries=list(Attempt.objects.filter(call__run=run).order_by("pk")),
            requests=hostile.requests["handshake" if kind == "tls" else kind],
            page=words_of(client.get(reverse("run-detail", args=[run.pk])).text),
            ledger=words_of(client.get(reverse("run-calls", args=[run.pk])).text),
        )

    return meet


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "tries", "words"),
    [
        ("drip", 2, ["took too long to reply", NO_REPLY, "increase the endpoint's timeout"]),
        ("gzip-bomb", 1, ["larger than the limit", OF_NO_USE, "SCRIPTSMITH_MOST_REPLY_BYTES"]),
        ("tls", 1, ["certificate is not trusted", NOT_BILLED, "renew the certificate"]),
        ("html", 1, ["returned a web page", NOT_BILLED, "perhaps a sign-in page"]),
    ],
)
def test_the_run_fails_with_words_that_say_what_to_do(
    meet: Callable[..., Seen], kind: str, tries: int, words: list[str]
) -> None:
    seen = meet(kind)
    assert seen.run.state == "failed"
    assert len(seen.tries) == seen.requests == tries
    assert not [one for one in seen.tries if one.ended_at is None]
    for expected in words:
        assert expected in seen.page
    assert "No action is needed" not in seen.page
    assert not ModelCall.objects.exclude(reply=None).exists(), "nothing of it is stored"


@pytest.mark.slow
def test_tokens_that_were_not_reported_are_not_counted_as_none(meet: Callable[..., Seen]) -> None:
    Price.objects.create(
        endpoint=Endpoint.objects.get(name="demo"),
        model="demo-smith",
        since="2026-01-01",
        input=1_000_000,
        output=1_000_000,
    )
    seen = meet("usage-null")
    assert len(seen.tries) == seen.requests
    assert {(one.outcome, one.cost) for one in seen.tries} == {("answered", None)}
    assert "without a token count" in seen.page
    assert "did not report the tokens, so tokens and cost are not counted" in seen.ledger
    assert "no price known" not in seen.page + seen.ledger
    assert {one.unpriced == one.answered for one in Spending.objects.all()} == {True}


@pytest.mark.slow
def test_impossible_token_count_is_refused(meet: Callable[..., Seen]) -> None:
    seen = meet("usage-absurd")
    assert {(one.outcome, one.input_tokens, one.cost) for one in seen.tries} == {
        ("answered", 0, None)
    }
    assert "reported an impossible number of tokens" in seen.ledger
    assert '"input_tokens": 1000000000000000000000000000000' in seen.ledger
    assert "2147483647" not in seen.ledger
