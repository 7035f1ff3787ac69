"""Tests for the endpoint check, from the button on the page through the worker to the result."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from pipeline.endpoints import check_requests
from pipeline.ledger.targets import target_of
from pipeline.models import Endpoint, Run
from pipeline.tasks import check_endpoint
from pipeline.types import Problem
from tests.hostile import MESSAGE, Hostile
from tests.pipeline.rows import make_attempt, make_call, queue_run
from tests.ports import free_port
from tests.standin_process import StandIn

Commits = Callable[..., AbstractContextManager[object]]
pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
SECRET = "sk-secret-value"


class Sent:
    """A recorder for tasks that would be sent to the broker."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, tuple[int, str], dict[str, object]]] = []

    def __call__(self, name: str, args: tuple[int, str], **options: object) -> None:
        self.tasks.append((name, args, options))

    def carry_out(self) -> None:
        """Run the newest task as a worker would."""
        name, args, _options = self.tasks[-1]
        assert name == check_endpoint.name
        check_endpoint(*args)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    sent = Sent()
    monkeypatch.setattr(check_requests.current_app, "send_task", sent)
    return sent


@pytest.fixture
def ask(client: Client, django_capture_on_commit_callbacks: Commits) -> Callable[..., int]:
    """Return a function that presses the button and returns the response's status."""

    def press(name: str = "demo", **form: str) -> int:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(f"/endpoints/{name}/check/", form).status_code

    return press


def test_a_check_tells_in_plain_words_what_is_real(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    Endpoint.objects.filter(name="demo").update(mode="text")
    before = client.get("/endpoints/demo/").text
    assert "Makes up to 3 short calls" in before and "billed as usual" in before
    assert ask() == 302
    assert "Waiting for a worker" in client.get("/endpoints/demo/").text
    name, _args, options = sent.tasks[0]
    assert (name, options["queue"], options["expires"]) == (
        "pipeline.check_endpoint",
        "interactive",
        60,
    )
    sent.carry_out()
    page = client.get("/endpoints/demo/").text
    for words in ("Recommended mode: “schema”", "works", "2 models", "200,000 tokens", "2 calls"):
        assert words in page
    probe = Endpoint.objects.get(name="demo").probe
    assert probe["models"] == ["demo-smith", "demo-smith-2"]
    assert probe["recommended"] == "schema" and "tried" not in probe
    assert len(standin.calls(billed=True)) == 2
    assert client.post("/endpoints/demo/use-mode/", {"mode": "tool"}).status_code == 409
    assert client.post("/endpoints/demo/use-mode/", {"mode": "schema"}).status_code == 302
    assert Endpoint.objects.get(name="demo").mode == "schema"
    assert "is the best mode that works" in client.get("/endpoints/demo/").text


def test_the_page_follows_the_check_and_stops_when_it_has_ended(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    ask()
    waiting = client.get("/endpoints/demo/check/", headers=HTMX)
    assert 'hx-trigger="every 1s"' in waiting.text and "<html" not in waiting.text
    assert "HX-Trigger" not in waiting.headers
    assert 'http-equiv="refresh"' in client.get("/endpoints/demo/").text
    sent.carry_out()
    ended = client.get("/endpoints/demo/check/", headers=HTMX)
    assert "hx-trigger" not in ended.text and "announce" in ended.headers["HX-Trigger"]
    assert client.get("/endpoints/demo/check/").url == "/endpoints/demo/"


def test_one_check_at_a_time_and_a_message_that_comes_twice_asks_once(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    ask()
    assert ask() == 409
    sent.carry_out()
    sent.carry_out()
    assert len(sent.tasks) == 1
    assert len(standin.calls(billed=True)) == 2
    assert standin.calls(task="generate") == []


def test_a_check_that_no_worker_takes_up_is_said_to_be_lost(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    ask()
    demo = Endpoint.objects.get(name="demo")
    demo.probe["asked"]["at"] = (timezone.now() - timedelta(seconds=61)).isoformat()
    demo.save()
    page = client.get("/endpoints/demo/").text
    assert "No worker started the check" in page and "Check again" in page
    sent.carry_out()  # a worker that starts this late makes no calls
    assert standin.calls() == []


def test_a_check_whose_worker_was_lost_is_said_to_be_lost(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    ask()
    demo = Endpoint.objects.get(name="demo")
    demo.probe["asked"]["begun_at"] = (timezone.now() - timedelta(seconds=100)).isoformat()
    demo.save()
    assert "The worker is calling the server" in client.get("/endpoints/demo/").text
    demo.probe["asked"]["begun_at"] = (timezone.now() - timedelta(seconds=200)).isoformat()
    demo.save()
    assert "The worker that ran the check stopped" in client.get("/endpoints/demo/").text
    assert ask() == 302


def test_without_a_broker_the_page_still_answers(
    client: Client, monkeypatch: pytest.MonkeyPatch, sent: Sent, ask: Callable[..., int]
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(check_requests.current_app, "send_task", refuse)
    assert ask() == 302
    assert "Waiting for a worker" in client.get("/endpoints/demo/").text


def test_page_names_refused_port(client: Client, sent: Sent, ask: Callable[..., int]) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    Endpoint.objects.filter(name="ollama").update(base_url=address)
    ask("ollama")
    sent.carry_out()
    page = client.get("/endpoints/ollama/").text
    assert f"No server responds at {address}" in page
    assert "check failed" in client.get("/endpoints/").text


def test_a_server_that_answers_with_an_error_is_explained(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int], subtests: pytest.Subtests
) -> None:
    cases = {
        "wrong key": (401, "The server requires a key, but this endpoint has none."),
        "not found": (404, "The model does not exist, or this address has no Messages API"),
        "spend limit": (402, "reached its spend limit"),
        "busy": (529, "The server is busy."),
        "broken": (500, "The model returned no readable reply"),
    }
    for name, (status, said) in cases.items():
        with subtests.test(name):
            standin.reset()
            standin.faults({"kind": "status", "status": status, "count": None})
            ask()
            sent.carry_out()
            assert said in client.get("/endpoints/demo/").text


def test_the_page_says_whether_web_and_worker_have_the_key_and_never_which(
    client: Client,
    standin: StandIn,
    sent: Sent,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[..., int],
) -> None:
    Endpoint.objects.filter(name="claude").update(base_url=standin.url)
    page = client.get("/endpoints/claude/").text
    assert "not set" in page and "unknown until the first check" in page
    ask("claude")
    sent.carry_out()
    page = client.get("/endpoints/claude/").text
    assert "ANTHROPIC_API_KEY is not set in the worker" in page
    assert "not set at the last check" in page
    assert standin.calls() == []
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    ask("claude", model="claude-haiku-5-5")
    sent.carry_out()
    page = client.get("/endpoints/claude/").text
    assert "set at the last check" in page and "accepted" in page
    assert "not on the server" in page
    assert SECRET not in page and SECRET not in str(Endpoint.objects.get(name="claude").probe)


def test_what_was_found_of_an_address_that_has_changed_meanwhile_is_not_kept(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    Endpoint.objects.filter(name="ollama").update(base_url=standin.url)
    ask("ollama", model="m")
    Endpoint.objects.filter(name="ollama").update(probe={})
    sent.carry_out()
    assert Endpoint.objects.get(name="ollama").probe == {}
    assert standin.calls() == []


def test_a_bad_name_of_a_model_is_refused_and_stays_typed(client: Client, sent: Sent) -> None:
    refused = client.post("/endpoints/demo/check/", {"model": "m" * 101})
    assert refused.status_code == 422
    assert "at most 100 characters" in refused.text and "m" * 101 in refused.text
    assert sent.tasks == []


def test_hostile_words_of_a_server_are_shown_as_words(client: Client) -> None:
    Endpoint.objects.filter(name="demo").update(
        probed_at=timezone.now(),
        probe={
            "reachable": True,
            "models": ["<script>x</script>"],
            "lists_models": True,
            "calls": 1,
            "modes": [
                {
                    "mode": "schema",
                    "outcome": "refused",
                    "detail": "<img src=x>",
                    "input_tokens": 1,
                    "output_tokens": 1,
                }
            ],
        },
    )
    page = client.get("/endpoints/demo/").text
    assert "<script>x" not in page and "<img src=x>" not in page
    assert "&lt;img src=x&gt;" in page


def test_an_administrator_tries_the_endpoint_without_the_askers_role(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    assert ask(**{"try": "1"}) == 302
    sent.carry_out()
    probe = Endpoint.objects.get(name="demo").probe
    assert (probe["tried"]["outcome"], probe["calls"]) == ("read", 3)
    assert "/var/log" in probe["tried"]["script"]
    page = client.get("/endpoints/demo/").text
    assert (
        "The reply contained a readable script." in page and "largest files under /var/log" in page
    )
    assert not Run.objects.exists(), "no run is made of it"
    assert client.get("/actions/new/").status_code == 403, "and no other role is given by it"


def test_an_endpoint_whose_variable_is_not_one_of_a_key_rests_and_says_so(
    client: Client, sent: Sent, ask: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The endpoint is older than the rule. The variable's value must not be sent, and the page says what to do."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with Hostile() as hostile:
        endpoint = Endpoint.objects.create(
            name="old",
            title="Old",
            base_url=hostile.url("usage-null"),
            key_variable="AWS_SECRET_ACCESS_KEY",
            enabled=True,
        )
        with pytest.raises(Problem, match="starts with SCRIPTSMITH_KEY_"):
            target_of(endpoint)
        ask("old")
        sent.carry_out()
        assert not hostile.requests
    page = client.get("/endpoints/old/").text
    assert (
        "ScriptSmith does not call this endpoint." in page
        and "starts with SCRIPTSMITH_KEY_" in page
    )
    assert "paused" in client.get("/endpoints/").text
    assert SECRET not in page
    answer = client.get("/api/v1/endpoints/old/").json()
    assert answer["has_key"] is False


def test_the_page_says_what_goes_through_the_proxy(client: Client, settings: Settings) -> None:
    settings.SCRIPTSMITH_MODEL_PROXY = "http://me:secret-word@proxy.lan:3128"
    page = client.get("/endpoints/claude/").text
    assert "proxy.lan:3128, which resolves the host name, so" in page
    assert "secret-word" not in page
    Endpoint.objects.filter(name="claude").update(base_url="http://gpu.lan:8080")
    assert "proxy.lan" not in client.get("/endpoints/claude/").text


class Dying:
    """A server that lists its models and is killed at the call with this number. With 0, the server never starts.

    Without a number, the server runs but answers no call until it is `released`.
    """

    def __init__(self, dies_at: int | None = None) -> None:
        outer, self.calls, self.released = self, 0, threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_words: object) -> None:
                """Log nothing."""

            def do_GET(self) -> None:  # noqa: N802
                self.answer({"data": [{"id": "small"}]})

            def do_POST(self) -> None:  # noqa: N802
                outer.calls += 1
                if dies_at is None:
                    outer.released.wait(60)
                elif outer.calls < dies_at:
                    self.answer({**MESSAGE, "content": [{"type": "text", "text": "Hello."}]})
                else:
                    outer.server.socket.close()
                self.close_connection = True

            def answer(self, body: object) -> None:
                text = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self._serve, daemon=True).start()
        if dies_at == 0:
            self.server.shutdown()
            self.server.server_close()

    def _serve(self) -> None:
        with suppress(ValueError, OSError):  # the socket may already be closed
            self.server.serve_forever(0.02)


def test_killed_server_is_reported_as_such(
    client: Client, sent: Sent, ask: Callable[..., int], subtests: pytest.Subtests
) -> None:
    for dies_at, said in ((0, "No server responds at"), (1, "stopped answering during the check")):
        server = Dying(dies_at)
        Endpoint.objects.filter(name="ollama").update(base_url=server.url, timeout_seconds=5)
        ask("ollama")
        sent.carry_out()
        page = client.get("/endpoints/ollama/").text
        with subtests.test(f"killed at call {dies_at}"):
            assert said in page and server.url in page
            assert "still be loading" not in page and "could be read" not in page
            assert "<dt>Reachable</dt><dd>no</dd>" in page
            assert client.get("/api/v1/endpoints/ollama/").json()["check"]["reachable"] is False


def test_check_under_way_shows_step_elapsed_time_and_the_runs_before_it(
    client: Client, sent: Sent, ask: Callable[..., int], subtests: pytest.Subtests
) -> None:
    run = queue_run()
    Run.objects.filter(pk=run.pk).update(
        state="running", lease_until=timezone.now() + timedelta(seconds=60)
    )
    demo = Endpoint.objects.get(name="demo")
    make_attempt(make_call(run, "generate"), ended_at=None, outcome="", place=1, endpoint=demo)
    ask()
    ago = (timezone.now() - timedelta(seconds=25)).isoformat()
    steps: dict[str, tuple[dict[str, object], str]] = {
        "waiting": ({}, "Waiting for a worker"),
        "listing": ({"begun_at": ago}, "Listing the server"),
        "calling": ({"begun_at": ago, "step": 2}, "Model call 2 of up to 3"),
    }
    for name, (more, words) in steps.items():
        demo.refresh_from_db()
        demo.probe["asked"] |= {"at": ago, **more}
        demo.save()
        live = client.get("/endpoints/demo/check/", headers=HTMX).text
        with subtests.test(name):
            assert words in live and f"Run {run.pk} has been using the endpoint since" in live
            assert re.search(r"data-since>2\d s<", live) and "Cancel check" in live


def test_canceled_check_ends_and_leaves_no_findings(
    client: Client, standin: StandIn, sent: Sent, ask: Callable[..., int]
) -> None:
    cancel = {
        "page": lambda: client.post("/endpoints/demo/check/", {"cancel": "1"}).status_code == 302,
        "api": lambda: client.delete("/api/v1/endpoints/demo/check/").status_code == 200,
    }
    for press in cancel.values():
        ask()
        assert press() and not press(), "there is none any more"
        sent.carry_out()
        demo = Endpoint.objects.get(name="demo")
        assert (demo.probed_at, check_requests.check_state(demo).value) == (None, "never")
    assert standin.calls() == []
    assert ask() == 302


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_cancel_closes_the_connection_of_the_call_in_flight(
    client: Client, sent: Sent, administrator: User
) -> None:
    """The test takes a second, because the worker checks for a cancellation once a second."""
    server = Dying()
    Endpoint.objects.filter(name="ollama").update(base_url=server.url, timeout_seconds=120)
    client.post("/endpoints/ollama/check/", {"model": "small"})

    def work() -> None:
        sent.carry_out()
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    for _ in range(200):
        if server.calls:
            break
        time.sleep(0.1)
    assert server.calls == 1
    assert client.post("/endpoints/ollama/check/", {"cancel": "1"}).status_code == 302
    worker.join(10)
    ended = not worker.is_alive()
    server.released.set()
    worker.join(60)
    assert ended and not Endpoint.objects.get(name="ollama").probed_at
