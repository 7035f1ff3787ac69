"""Every fault of a server, through the real SDK in a real run: the ledger, the bill, and what a person reads."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipeline import services
from pipeline.execution import run_worker
from pipeline.models import Attempt, Endpoint, Run
from pipeline.simulation.clean_run import clean_run
from tests.first_cases import first_cases
from tests.make import make_action
from tests.standin_process import StandIn

ClientFor = Callable[[User], Client]
Rule = dict[str, object]

EXPORTS = "delete files older than 30 days in /var/tmp/exports"
ONCE_MORE = "It was tried 2 times. It may have been billed although no reply came."
NOT_AGAIN = "It was not tried again: that would have changed nothing. Nothing was billed for it."
NO_BETTER = (
    "It was asked again, once, and the second reply was no better. No script was made of it."
)
RESTS = (
    "The endpoint rests; the run goes on by itself and keeps no worker. Nothing was billed for it."
)

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Seen:
    """How a run stands, the tries of the call that met the fault, what was billed, and the page's words."""

    state: str
    tries: list[tuple[str, int | None]]
    billed: int
    page: str
    api: Callable[[], dict[str, object]]


@pytest.fixture
def meet(standin: StandIn, client_for: ClientFor, reviewer: User) -> Callable[..., Seen]:
    """Send a statement through while the server has these faults."""

    def meet(*rules: Rule, task: str = "generate", advances: int = 3) -> Seen:
        standin.faults(*({"task": task, **rule} for rule in rules))
        run = services.start_run(
            make_action(EXPORTS, by=reviewer), by=reviewer, uses_retrieval=False, enqueue=False
        )
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


@pytest.mark.parametrize(
    ("rule", "happened", "advice"),
    first_cases(
        1,
        [
            pytest.param(
                status(400), "refused the request as it was put", "mode and limits", id="400"
            ),
            pytest.param(status(401), "did not accept the key", "set the right key", id="401"),
            pytest.param(status(403), "may not be used for this", "may use this model", id="403"),
            pytest.param(
                status(404), "knows no such model", "check the endpoint's address", id="404"
            ),
            pytest.param(status(409), "refused the request", "mode and limits", id="409"),
            pytest.param(status(413), "too large for the server", "with less context", id="413"),
        ],
    ),
)
def test_what_trying_again_cannot_help_stops_the_run_at_once(
    meet: Callable[..., Seen], rule: Rule, happened: str, advice: str
) -> None:
    seen = meet({**rule, "message": "Words of the <server>."})
    assert (seen.state, seen.tries) == ("failed", [("refused", rule["status"])])
    assert seen.billed == 0
    for words in ("The run stopped.", happened, NOT_AGAIN, advice):
        assert words in seen.page
    assert f"Words of the <server>. (HTTP {rule['status']})" in seen.page, "the raw words stay"


@pytest.mark.slow
def test_the_api_tells_the_same(meet: Callable[..., Seen]) -> None:
    assert meet(status(401, message="Who are you?")).api()["failure"] == {
        "happened": "The server did not accept the key.",
        "done": NOT_AGAIN,
        "advice": "Ask an administrator to set the right key in the endpoint's environment variable and "
        "to restart the workers.",
        "evidence": "Demo model: Who are you? (HTTP 401)",
    }


@pytest.mark.parametrize(
    ("rule", "happened"),
    first_cases(
        1,
        [
            pytest.param(status(429, retry_after=30), "had too many requests", id="429"),
            pytest.param(
                status(429, headers={"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}),
                "had too many requests",
                id="429 until a date",
            ),
            pytest.param(
                status(429, headers={"retry-after": "nan"}),
                "had too many requests",
                id="429 nonsense",
            ),
            pytest.param(status(503, retry_after=30), "was not available", id="503"),
            pytest.param(status(529, retry_after=30), "were overloaded", id="529"),
        ],
    ),
)
def test_a_busy_server_has_the_run_wait_and_costs_nothing(
    meet: Callable[..., Seen], rule: Rule, happened: str
) -> None:
    seen = meet(rule, advances=1)
    assert (seen.state, seen.tries, seen.billed) == ("queued", [("busy", rule["status"])], 0)
    for words in ("Waiting.", happened, RESTS, "Nothing has to be done."):
        assert words in seen.page
    assert Endpoint.objects.get(name="demo").blocked_until is not None


@pytest.mark.parametrize(
    ("rule", "happened"),
    first_cases(
        1,
        [
            pytest.param(status(402), "can't pay at present", id="402"),
            pytest.param(
                status(402, error_code="linked_organization_spend_limit_reached"),
                "pay",
                id="402 linked",
            ),
            *(
                pytest.param(status(429, error_code=code), "A spend limit of the account", id=code)
                for code in (
                    "contract_spend_limit_reached",
                    "enforced_spend_limit_reached",
                    "ramp_limit_exceeded",
                )
            ),
            pytest.param(
                status(400, message="You have reached your specified API usage limits."),
                "A spend limit of the account",
                id="a limit of one's own is a 400",
            ),
        ],
    ),
)
def test_a_spend_limit_rests_the_endpoint_and_a_person_is_told_to_act(
    meet: Callable[..., Seen], rule: Rule, happened: str
) -> None:
    seen = meet(rule)
    assert (seen.state, seen.tries, seen.billed) == ("queued", [("limit", rule["status"])], 0)
    for words in ("Waiting.", happened, RESTS, "Raise the limit or pay at the provider"):
        assert words in seen.page


@pytest.mark.parametrize(
    ("rule", "tried", "billed", "happened"),
    first_cases(1, [
        pytest.param(status(500), ("broken", 500), 0, "failed while it answered", id="500"),
        pytest.param(
            status(502, text="<html>Bad gateway</html>"), ("broken", 502), 0, "no proper answer",
            id="502 in HTML",
        ),
        pytest.param(status(504), ("broken", 504), 0, "gave up waiting for it", id="504"),
        pytest.param({"kind": "death"}, ("timeout", None), 2, "connection broke", id="death"),
        pytest.param({"kind": "cut"}, ("broken", None), 2, "could not be read as a message", id="cut body"),
        pytest.param(
            {"kind": "shape", "body": "a string"}, ("broken", None), 2, "could not be read as a message",
            id="a string",
        ),
        pytest.param(
            {"kind": "shape", "body": None}, ("broken", None), 2, "as a message", id="null"
        ),
        pytest.param(
            {"kind": "shape", "drop": ["content"]}, ("broken", None), 2, "as a message",
            id="no content",
        ),
        pytest.param(
            {"kind": "text", "text": "a\0b"}, ("broken", None), 2, "as a message", id="NUL"
        ),
        pytest.param(
            {"kind": "text", "text": "a\ud800b"}, ("broken", None), 2, "as a message",
            id="half a character",
        ),
        pytest.param({"kind": "delay", "seconds": 1.5}, ("timeout", None), 2, "too long", id="delay"),
        pytest.param(
            {"kind": "drip", "seconds": 0.2, "bytes": 20}, ("timeout", None), 2, "took too long",
            id="drip, each byte in time",
        ),
    ]),
)  # fmt: skip
def test_what_may_have_been_billed_is_tried_once_more_and_no_more(
    meet: Callable[..., Seen],
    rule: Rule,
    tried: tuple[str, int | None],
    billed: int,
    happened: str,
) -> None:
    if rule["kind"] in ("delay", "drip"):  # a second is to be too long, and only for these
        Endpoint.objects.update(timeout_seconds=1)
    seen = meet({**rule, "count": None})
    assert (seen.state, seen.tries, seen.billed) == ("failed", [tried, tried], billed)
    for words in (happened, ONCE_MORE, "Resume the run later"):
        assert words in seen.page


@pytest.mark.parametrize(
    ("rule", "happened", "advice"),
    first_cases(1, [
        pytest.param(
            {"kind": "refusal", "category": "cyber", "count": 1},
            "The model refused to write this script.",
            "Say in other words what is to be done and what for",
            id="refusal with a category",
        ),
        pytest.param(
            {"kind": "max_tokens"}, "The model's reply was cut short.", "longer replies", id="cut"
        ),
        pytest.param(
            {"kind": "thinking"}, "The model answered with nothing.", "another model", id="thinking"
        ),
        pytest.param(
            {"kind": "text", "sample": "nothing"}, "answered with nothing.", "another model",
            id="no content",
        ),
        pytest.param(
            {"kind": "text", "sample": "prose"}, "No script could be read", "another model",
            id="prose",
        ),
        pytest.param(
            {"kind": "text", "sample": "no_script"}, "No script could be read", "another model",
            id="another language",
        ),
        pytest.param(
            {"kind": "tool_input", "input": {"script": 7}}, "No script could be read", "words",
            id="off its schema",
        ),
    ]),
)  # fmt: skip
def test_a_reply_without_a_script_fails_the_run_and_is_paid_for(
    meet: Callable[..., Seen], rule: Rule, happened: str, advice: str
) -> None:
    seen = meet({"count": None, **rule})
    refused = rule["kind"] == "refusal"
    assert (seen.state, seen.billed) == ("failed", 1 if refused else 2)
    assert seen.tries == [("answered", 200)] * seen.billed
    assert happened in seen.page and advice in seen.page
    assert (NO_BETTER in seen.page) is not refused


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "rule", "verdict", "further", "words"),
    first_cases(2, [
        pytest.param(
            "similarity", {"kind": "contradiction"}, "unknown", 0, "contradicts itself",
            id="contradiction",
        ),
        pytest.param(
            "difference", {"kind": "tool_input", "input": {"verdict": 7}}, "unknown", 1,
            "could not be read", id="tool input off its schema",
        ),
        pytest.param("similarity", {"kind": "refusal"}, "unknown", 0, "refused", id="refusal"),
        pytest.param(
            "describe", {"kind": "max_tokens"}, "unknown", -1, "cut short", id="description cut"
        ),
        pytest.param(
            "similarity", {"kind": "text", "sample": "prose"}, "unknown", 1, "could not be read",
            id="Yes, it matches",
        ),
        pytest.param(
            "generate", {"kind": "unknown_block"}, "correct", 0, "no difference", id="unknown block"
        ),
        pytest.param(
            "generate", {"kind": "text", "sample": "several_fences"}, "unknown", None,
            "the longest of 2 code blocks", id="several fences",
        ),
        pytest.param(
            "generate", {"kind": "text", "sample": "nested_fence"}, "unknown", None,
            "a here-document in it holds a code fence", id="nested fence",
        ),
    ]),
)  # fmt: skip
def test_a_reply_that_is_odd_is_never_a_verdict_by_accident(
    meet: Callable[..., Seen], task: str, rule: Rule, verdict: str, further: int | None, words: str
) -> None:
    seen = meet({**rule, "count": None}, task=task)
    assert seen.state == "done"
    assert {outcome for outcome, _ in seen.tries} == {"answered"}
    assert words in seen.page
    if further is not None:  # calls beyond those of a run in which nothing goes wrong
        billed = clean_run().calls + further
        assert (Run.objects.get().verdict, seen.billed) == (verdict, billed)


@pytest.mark.slow
def test_one_try_that_fails_leaves_no_mark_but_its_row(meet: Callable[..., Seen]) -> None:
    seen = meet({"kind": "death"}, task="similarity")
    assert seen.state == "done"
    assert seen.tries == [("timeout", None), ("answered", 200)]
    assert (seen.billed, seen.api()["failure"]) == (clean_run().calls + 1, None)


@pytest.mark.slow
def test_a_connection_closed_while_idle_does_not_stop_a_run(meet: Callable[..., Seen]) -> None:
    seen = meet({"kind": "close"}, advances=5)
    assert (seen.state, seen.billed) == ("done", clean_run().calls)


@pytest.mark.slow
def test_a_server_that_is_not_there_is_waited_for(
    meet: Callable[..., Seen], settings: object
) -> None:
    settings.SCRIPTSMITH_DEMO_MODEL_URL = "http://127.0.0.1:9"  # type: ignore[attr-defined]
    seen = meet(advances=1)
    assert (seen.state, seen.tries, seen.billed) == ("queued", [("unreachable", None)], 0)
    assert "No connection to the server could be made." in seen.page


@pytest.mark.slow
def test_a_run_that_kills_its_workers_asks_for_an_administrator(
    meet: Callable[..., Seen], client_for: ClientFor, reviewer: User
) -> None:
    meet(status(503, retry_after=30), advances=1)
    Run.objects.update(
        state="failed", crashes=3, problem="The worker died.", finished_at=timezone.now()
    )
    page = client_for(reviewer).get(reverse("run-detail", args=[Run.objects.get().pk])).text
    assert "The worker died 3 times in a row over this run." in page
    assert "check the workers&#x27; log" in page


@pytest.mark.slow
def test_the_ledgers_page_tells_each_try_in_words(
    meet: Callable[..., Seen], client_for: ClientFor, reviewer: User
) -> None:
    meet({"kind": "death"}, {"kind": "status", "status": 500, "message": "Boom."})
    run = Run.objects.get()
    page = client_for(reviewer).get(reverse("run-calls", args=[run.pk])).text
    assert "The connection broke while the model was answering." in page
    assert "The server failed while it answered." in page
    assert "Boom." in page and "possibly billed twice" in page
