"""Tests for the ledger, the bill and the messages after every server fault in a real run with the real SDK."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from pipeline.execution import run_worker
from pipeline.models import Attempt, Endpoint, Run
from pipeline.simulation.clean_run import clean_run
from tests.people import ClientFor
from tests.pipeline.rows import queue_run
from tests.standin_process import StandIn

Rule = dict[str, object]

ONCE_MORE = "2 attempts. The call may have been billed despite the missing reply."
NOT_AGAIN = (
    "The call was not retried, because a retry would not have helped. The call was not billed."
)
NO_BETTER = "A second attempt failed too. No script was stored."
RESTS = (
    "The endpoint is paused. The run continues automatically and does not occupy a worker. "
    "The call was not billed."
)

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Seen:
    """The state of a run, the attempts of the call with the fault, the number of billed calls, and the page."""

    state: str
    tries: list[tuple[str, int | None]]
    billed: int
    page: str
    api: Callable[[], dict[str, object]]


@pytest.fixture
def meet(standin: StandIn, client_for: ClientFor, reviewer: User) -> Callable[..., Seen]:
    """Return a function that runs a statement while the server has the given faults."""

    def meet(*rules: Rule, task: str = "generate", advances: int = 3) -> Seen:
        standin.faults(*({"task": task, **rule} for rule in rules))
        run = queue_run(by=reviewer)
        for _ in range(advances):
            run_worker.advance(run.pk)
        run.refresh_from_db()
        client = client_for(reviewer)
        page = client.get(reverse("run-detail", args=[run.pk])).text
        tries = Attempt.objects.filter(call__run=run, call__stage=task).order_by("pk")
        return Seen(
            state=run.state,
            tries=[(one.outcome, one.http_status) for one in tries],
            billed=len(standin.calls(billed=True)),
            page=html.unescape(re.sub(r"<[^>]*>|\s+", " ", page).replace("  ", " ")),
            api=lambda: client.get(f"/api/v1/runs/{run.pk}/").json(),
        )

    return meet


def status(code: int, **details: object) -> Rule:
    return {"kind": "status", "status": code, **details}


def test_refused_request_stops_run_with_evidence(meet: Callable[..., Seen]) -> None:
    seen = meet(status(401, message="Words of the <server>."))
    assert (seen.state, seen.tries, seen.billed) == ("failed", [("refused", 401)], 0)
    for words in ("The run stopped.", "did not accept the key", NOT_AGAIN, "set the correct key"):
        assert words in seen.page
    assert "Words of the <server>. (HTTP 401)" in seen.page, "the raw words stay"
    assert seen.api()["failure"] == {
        "happened": "The server did not accept the key.",
        "done": NOT_AGAIN,
        "advice": "Ask an administrator to set the correct key in the endpoint's environment variable and "
        "to restart the workers.",
        "evidence": "Demo model: Words of the <server>. (HTTP 401)",
    }


def test_busy_server_has_the_run_wait_and_costs_nothing(meet: Callable[..., Seen]) -> None:
    seen = meet(status(429, retry_after=30), advances=1)
    assert (seen.state, seen.tries, seen.billed) == ("queued", [("busy", 429)], 0)
    for words in ("Waiting.", "received too many requests", RESTS, "No action is needed."):
        assert words in seen.page
    assert Endpoint.objects.get(name="demo").blocked_until is not None


def test_spend_limit_rests_the_endpoint_and_asks_a_person_to_act(meet: Callable[..., Seen]) -> None:
    seen = meet(status(402))
    assert (seen.state, seen.tries, seen.billed) == ("queued", [("limit", 402)], 0)
    for words in ("Waiting.", "has a payment problem", RESTS, "Raise the limit or settle the bill"):
        assert words in seen.page


def test_broken_reply_is_tried_once_more_and_no_more(meet: Callable[..., Seen]) -> None:
    seen = meet({"kind": "cut", "count": None})
    assert (seen.state, seen.tries, seen.billed) == ("failed", [("broken", None)] * 2, 2)
    for words in ("could not be read as a message", ONCE_MORE, "Resume the run later"):
        assert words in seen.page


@pytest.mark.parametrize(
    ("rule", "happened"),
    [
        pytest.param({"kind": "refusal", "count": 1}, "The model refused", id="refusal"),
        pytest.param({"kind": "thinking"}, "reply was empty.", id="nothing but thinking"),
    ],
)
def test_reply_without_script_is_paid(meet: Callable[..., Seen], rule: Rule, happened: str) -> None:
    seen = meet({"count": None, **rule})
    refused = rule["kind"] == "refusal"
    assert (seen.state, seen.billed) == ("failed", 1 if refused else 2)
    assert seen.tries == [("answered", 200)] * seen.billed
    assert happened in seen.page
    assert (NO_BETTER in seen.page) is not refused


@pytest.mark.parametrize(
    ("task", "rule", "further", "words"),
    [
        ("similarity", {"kind": "contradiction"}, 0, "contradictory reply"),
        ("describe", {"kind": "max_tokens"}, -1, "truncated"),
    ],
)
def test_odd_reply_is_no_verdict(
    meet: Callable[..., Seen], task: str, rule: Rule, further: int, words: str
) -> None:
    seen = meet({**rule, "count": None}, task=task)
    assert seen.state == "done"
    assert {outcome for outcome, _ in seen.tries} == {"answered"}
    assert words in seen.page
    # `further` is the number of calls beyond those of a clean run.
    assert (Run.objects.get().verdict, seen.billed) == ("unknown", clean_run().calls + further)


def test_temporary_fault_lets_the_run_finish(meet: Callable[..., Seen]) -> None:
    seen = meet({"kind": "death"}, task="similarity")
    assert seen.state == "done"
    assert seen.tries == [("timeout", None), ("answered", 200)]
    assert (seen.billed, seen.api()["failure"]) == (clean_run().calls + 1, None)


def test_a_connection_closed_while_idle_does_not_stop_a_run(meet: Callable[..., Seen]) -> None:
    seen = meet({"kind": "close"}, advances=5)
    assert (seen.state, seen.billed) == ("done", clean_run().calls)


@pytest.mark.slow
def test_missing_server_is_awaited(meet: Callable[..., Seen], settings: object) -> None:
    settings.SCRIPTSMITH_DEMO_MODEL_URL = "http://127.0.0.1:9"
    seen = meet(advances=1)
    assert (seen.state, seen.tries, seen.billed) == ("queued", [("unreachable", None)], 0)
    assert "The server could not be reached." in seen.page


def test_a_run_that_kills_its_workers_asks_for_an_administrator(
    meet: Callable[..., Seen], client_for: ClientFor, reviewer: User
) -> None:
    meet(status(503, retry_after=30), advances=1)
    Run.objects.update(
        state="failed", crashes=3, problem="The worker died.", finished_at=timezone.now()
    )
    page = client_for(reviewer).get(reverse("run-detail", args=[Run.objects.get().pk])).text
    assert "The worker crashed 3 times in a row during this run." in page
    assert "check the workers&#x27; log" in page


def test_the_ledgers_page_tells_each_try_in_words(
    meet: Callable[..., Seen], client_for: ClientFor, reviewer: User
) -> None:
    meet({"kind": "death"}, {"kind": "status", "status": 500, "message": "Boom."})
    run = Run.objects.get()
    page = client_for(reviewer).get(reverse("run-calls", args=[run.pk])).text
    assert "The connection broke while the model was replying." in page
    assert "The server failed during the reply." in page
    assert "Boom." in page and "possibly billed twice" in page
