"""Tests for the server check: real requests through the SDK, and every possible result of a reply."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pipeline.llm.client import MessagesClient
from pipeline.llm.inspector import SdkInspector
from pipeline.llm.probe import MOST_CALLS, probe
from pipeline.llm.probe_findings import Found, Has, KeyFound, Page
from pipeline.llm.types import Answered, Failed, FailureKind, Request, Target, Usage
from pipeline.types import Mode
from tests.hostile import Hostile
from tests.ports import free_port
from tests.standin_process import StandIn

SECONDS = 60.0
Reply = dict[str, object] | Failed


@pytest.fixture(scope="module")
def client() -> MessagesClient:
    return MessagesClient()


@pytest.fixture(scope="module")
def inspector() -> SdkInspector:
    return SdkInspector()


@pytest.fixture(scope="module")
def ollama() -> Iterator[StandIn]:
    with StandIn("--profile", "ollama") as process:
        yield process


@pytest.fixture
def ask(client: MessagesClient, inspector: SdkInspector) -> Callable[..., Found]:
    """Return a function that checks the server at an address, as a worker does."""

    def check(url: str, *, key: str = "any", model: str = "") -> Found:
        target = Target("under-test", url, key, SECONDS)
        return probe(target, client=client, inspector=inspector, model=model)

    return check


def outcomes(found: Found) -> dict[str, str]:
    return {one.mode.value: one.outcome.value for one in found.modes}


def test_schema_server_is_found_out(standin: StandIn, ask: Callable[..., Found]) -> None:
    found = ask(standin.url)
    assert found.reachable and found.key is KeyFound.ACCEPTED
    assert found.models == ("demo-smith", "demo-smith-2")
    assert found.model == "demo-smith"
    assert found.facts.most_input_tokens and found.facts.lifecycle == "active"
    assert outcomes(found) == {"schema": "real", "tool": "real", "text": "real"}
    assert found.recommended is Mode.SCHEMA
    assert (found.batches, found.count_tokens) == (Has.YES, Has.YES)
    assert found.calls == len(standin.calls(billed=True)) == 2
    assert all(one.milliseconds is not None for one in found.modes[:2])


def test_random_word_stands_nowhere_in_prompt(standin: StandIn, ask: Callable[..., Found]) -> None:
    ask(standin.url)
    for call in standin.calls(billed=True):
        request = call["request"]
        assert isinstance(request, dict)
        shape = json.dumps(request.get("output_config") or request.get("tools"))
        word = shape.split('"enum": ["')[1].split('"')[0]
        assert len(word) > 10
        assert word not in json.dumps([request["messages"], request["system"]])


@pytest.mark.slow
def test_server_dropping_schemas_is_found_out(ollama: StandIn, ask: Callable[..., Found]) -> None:
    found = ask(ollama.url, key="none")
    assert outcomes(found) == {"schema": "ignored", "tool": "ignored", "text": "real"}
    assert found.recommended is Mode.TEXT
    assert found.models == ("demo-smith", "demo-smith-2")
    assert (found.batches, found.count_tokens) == (Has.NO, Has.NO)
    assert found.facts.most_input_tokens is None


def test_nothing_at_the_address_is_said_and_costs_nothing(ask: Callable[..., Found]) -> None:
    found = ask(f"http://127.0.0.1:{free_port()}")
    assert not found.reachable
    assert found.calls == 0 and found.modes == ()


def test_wrong_key_ends_check_after_one_call(standin: StandIn, ask: Callable[..., Found]) -> None:
    standin.faults({"kind": "status", "status": 401, "message": "invalid bearer token"})
    found = ask(standin.url)
    assert found.reachable and found.key is KeyFound.REFUSED
    assert outcomes(found) == {"schema": "failed", "tool": "not_asked", "text": "not_asked"}
    assert found.recommended is None
    assert "invalid bearer token" in found.problem
    assert found.calls == 1 and standin.calls(billed=True) == []


def test_a_key_that_is_refused_by_a_400_says_nothing_of_the_modes(
    standin: StandIn, ask: Callable[..., Found], subtests: pytest.Subtests
) -> None:
    cases = {
        "a proxy that looks keys up in a database": "No connected db.",
        "an API key": "Malformed API Key passed in.",
        "authentication": "Authentication Error, LiteLLM Virtual Key expected.",
    }
    for name, message in cases.items():
        with subtests.test(name):
            standin.reset()
            standin.faults({"kind": "status", "status": 400, "message": message, "count": None})
            found = ask(standin.url, key="none")
            assert found.key is KeyFound.REFUSED
            assert outcomes(found) == {"schema": "failed", "tool": "not_asked", "text": "not_asked"}
            assert found.calls == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("redirect", "not followed"),
        ("oversized-headers", "headers too large"),
        ("bad-gzip", "bad encoding"),
        ("endless", "too large"),
    ],
)
def test_hostile_server_fault_is_named(ask: Callable[..., Found], kind: str, problem: str) -> None:
    with Hostile() as hostile:
        found = ask(hostile.url(kind), model="any")
        assert problem in found.problem
        assert found.recommended is None
        assert hostile.requests.total() == hostile.requests[kind] <= 1


def test_a_server_that_returns_prose_whatever_is_asked_can_be_used_in_text_mode(
    standin: StandIn, ask: Callable[..., Found]
) -> None:
    standin.faults({"kind": "text", "sample": "prose", "count": None})
    found = ask(standin.url)
    assert outcomes(found) == {"schema": "ignored", "tool": "ignored", "text": "real"}
    assert found.recommended is Mode.TEXT and found.key is KeyFound.ACCEPTED


def test_refused_tools_fall_back_to_schema(standin: StandIn, ask: Callable[..., Found]) -> None:
    found = ask(standin.url, model="claude-opus-5-5")
    assert outcomes(found) == {"schema": "real", "tool": "refused", "text": "real"}
    assert found.model == "claude-opus-5-5" and found.model not in (found.models or ())


def test_busy_server_is_asked_once(standin: StandIn, ask: Callable[..., Found]) -> None:
    standin.faults({"kind": "status", "status": 529})
    found = ask(standin.url)
    assert found.calls == 1
    assert found.modes[0].http_status == 529 and found.recommended is None


class OneAnswer(BaseHTTPRequestHandler):
    """A server that responds with 404 on every path except one."""

    def do_GET(self) -> None:
        self._answer(404, b"<html>nothing here</html>")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.path != "/v1/messages":
            self._answer(404, b"nothing here")
            return
        said = {"type": "text", "text": "Good morning to you."}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "any",
            "content": [said],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 9, "output_tokens": 5},
        }
        self._answer(200, json.dumps(message).encode())

    def log_message(self, *args: object) -> None: ...

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json" if status == 200 else "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def bare_server() -> Iterator[str]:
    """Yield the address of a server that reveals nothing about itself."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), OneAnswer)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_server_without_models_is_asked(bare_server: str, ask: Callable[..., Found]) -> None:
    found = ask(bare_server, model="llama-of-ours")
    assert found.reachable and found.models is None
    assert outcomes(found) == {"schema": "ignored", "tool": "ignored", "text": "real"}
    assert (found.batches, found.count_tokens) == (Has.NO, Has.NO)
    assert found.modes[0].input_tokens == 9
    found = ask(bare_server)
    assert found.reachable and found.calls == 0
    assert found.problem == "no model"


WORD = "w00000"
NOT_THERE = Page(404)


class Scripted:
    """A client that returns the replies one after another, and an inspector that always returns the same page."""

    def __init__(self, *replies: Reply, page: Page = NOT_THERE) -> None:
        self._replies = list(replies)
        self._page = page
        self.requests: list[Request] = []

    def send(self, requests: Sequence[tuple[Target, Request]]) -> list[Answered | Failed]:
        [(_target, request)] = requests
        self.requests.append(request)
        reply = self._replies.pop(0)
        return [reply if isinstance(reply, Failed) else Answered(reply, Usage(3, 4), "", 20)]

    def get(self, target: Target, path: str) -> Page:
        return self._page

    def post(self, target: Target, path: str, body: dict[str, object]) -> Page:
        return self._page


def text(words: str, stop: str = "end_turn") -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}], "stop_reason": stop}


def tool(value: object) -> dict[str, object]:
    return {"content": [{"type": "tool_use", "input": value}], "stop_reason": "tool_use"}


def failed(kind: FailureKind, status: int | None = None) -> Failed:
    return Failed(kind, "The server's words.", http_status=status)


def look(scripted: Scripted, **options: object) -> Found:
    target = Target("t", "http://127.0.0.1", "none", SECONDS)
    chosen = {"model": "m", **options}
    return probe(target, client=scripted, inspector=scripted, make_word=lambda: WORD, **chosen)


HELLO = text("Hello.")
HELD = text(json.dumps({"answer": WORD}))
OFF = text(json.dumps({"answer": "hello"}))
UNREACHABLE = failed(FailureKind.UNREACHABLE)
BAD_REQUEST = failed(FailureKind.REFUSED, 400)
BROKEN = failed(FailureKind.BROKEN, 500)


def test_a_mode_is_real_only_where_the_word_came_back(subtests: pytest.Subtests) -> None:
    cases = {
        "all": ([HELD, tool({"answer": WORD})], "real real real", "schema"),
        "schema only": ([HELD, HELLO], "real ignored real", "schema"),
        "tool only": ([HELLO, tool({"answer": WORD})], "ignored real real", "tool"),
        "shape, not value": ([OFF, tool({"answer": "x"})], "ignored ignored real", "text"),
        "the bare word": ([text(WORD), tool({})], "real ignored real", "schema"),
        "word in prose": ([text(f"Sure: {WORD}!"), HELLO], "ignored ignored real", "text"),
        "cut short": ([text("", "max_tokens"), text("Hel", "max_tokens"), HELLO], "unclear unclear real",
            "text"),
        "mute": ([text("", "refusal"), text(""), text("  ")], "unclear unclear unclear", None),
        "400, 400, hello": ([BAD_REQUEST, BAD_REQUEST, HELLO], "refused refused real", "text"),
        "500, tool": ([BROKEN, tool({"answer": WORD})], "failed real real", "tool"),
        "all 404": ([failed(FailureKind.REFUSED, 404)] * 3, "refused refused refused", None),
        "gone": ([UNREACHABLE], "failed not_asked not_asked", None),
        "too slow": ([failed(FailureKind.TIMEOUT)], "failed not_asked not_asked", None),
        "spend limit": ([failed(FailureKind.LIMIT, 402)], "failed not_asked not_asked", None),
    }  # fmt: skip
    for name, (replies, expected, recommended) in cases.items():
        with subtests.test(name):
            scripted = Scripted(*replies)
            found = look(scripted)
            assert " ".join(one.outcome.value for one in found.modes) == expected
            assert (found.recommended.value if found.recommended else None) == recommended
            assert found.calls == len(scripted.requests) <= MOST_CALLS


LISTED = Page(200, {"data": [{"id": "a"}, {"id": "b", "max_model_len": 4096}]})


def test_the_model_that_is_asked(subtests: pytest.Subtests) -> None:
    cases = {
        "the one that was named": (LISTED, {"model": "named"}, "named"),
        "known and listed": (LISTED, {"model": "", "known": ["x", "b"]}, "b"),
        "known, none listed": (LISTED, {"model": "", "known": ["x", "y"]}, "x"),
        "the first of the list": (LISTED, {"model": ""}, "a"),
        "no list": (NOT_THERE, {"model": "", "known": ["x"]}, "x"),
    }
    for name, (page, options, asked) in cases.items():
        with subtests.test(name):
            scripted = Scripted(HELD, HELLO, page=page)
            assert look(scripted, **options).model == asked
            assert {request["model"] for request in scripted.requests} == {asked}


def test_a_list_of_models_may_be_anything() -> None:
    cases = {
        "an empty list": (Page(200, {"data": []}), ()),
        "odd rows": (Page(200, {"data": [3, {"id": 4}, {"id": "x"}]}), ("x",)),
        "an endless name": (Page(200, {"data": [{"id": "x" * 999}]}), ()),
        "another shape": (Page(200, ["x"]), None),
        "no JSON": (Page(200, None), None),
        "broken": (Page(500, None, "broken"), None),
    }
    wrong = {
        name: got
        for name, (page, models) in cases.items()
        if (got := look(Scripted(HELD, HELLO, page=page)).models) != models
    }
    assert not wrong


def test_findings_are_plain_json_with_facts_of_the_model() -> None:
    found = look(Scripted(HELD, HELLO, page=LISTED), model="b")
    assert found.facts.most_input_tokens == 4096
    assert found.facts.lifecycle == ""
    kept = look(Scripted(HELD, HELLO, page=LISTED)).as_json()
    assert json.loads(json.dumps(kept)) == kept
    assert kept["models"] == ["a", "b"]
    assert kept["recommended"] == "schema"


def test_tool_call_written_as_text_is_no_tool_mode(standin: StandIn) -> None:
    """llama.cpp shows the tool even to models without tool support, and such a model may write the call as text."""
    standin.faults({"kind": "text", "text": '```json\n{"answer": "w1"}\n```', "count": None})
    target = Target("under-test", standin.url, "any", SECONDS)
    found = probe(target, client=MessagesClient(), inspector=SdkInspector(), make_word=lambda: "w1")
    assert outcomes(found) == {"schema": "real", "tool": "ignored", "text": "real"}
