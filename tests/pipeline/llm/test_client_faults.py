"""Tests that the client reports the kind and HTTP status of each server fault, and whether the call may have been
billed.
"""

from __future__ import annotations

import json

import pytest

from pipeline.llm.batches_client import read_result, split_lines
from pipeline.llm.client import MessagesClient
from pipeline.llm.types import Answered, Failed, FailureKind, Target, Trouble
from tests.standin_process import StandIn

REQUEST: dict[str, object] = {
    "model": "demo-smith",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Write it."}],
}
BUSY, LIMIT, REFUSED = FailureKind.BUSY, FailureKind.LIMIT, FailureKind.REFUSED
BROKEN, TIMEOUT = FailureKind.BROKEN, FailureKind.TIMEOUT


def status(code: int, **details: object) -> dict[str, object]:
    return {"kind": "status", "status": code, **details}


def test_server_fault_ends_attempt_by_kind(standin: StandIn, subtests: pytest.Subtests) -> None:
    statuses = {
        REFUSED: (400, 401, 403, 404, 409, 413),
        BUSY: (429, 503, 529),
        LIMIT: (402,),
        BROKEN: (500, 504),
    }
    faults = {
        f"HTTP {code}": (status(code), kind, code) for kind in statuses for code in statuses[kind]
    }
    for code in ("contract_spend_limit", "enforced_spend_limit", "linked_organization_spend_limit"):
        faults[code] = (status(429, error_code=f"{code}_reached"), LIMIT, 429)
    usage = "You have reached your specified API usage limits."
    faults |= {
        "ramp limit": (status(429, error_code="ramp_limit_exceeded"), LIMIT, 429),
        "402 with a code": (status(402, error_code="ramp_limit_exceeded"), LIMIT, 402),
        "a limit of one's own": (status(400, message=usage), LIMIT, 400),
        "502 in HTML": (status(502, text="<html>Bad gateway</html>"), BROKEN, 502),
        "death": ({"kind": "death"}, TIMEOUT, None),
        "cut body": ({"kind": "cut"}, BROKEN, None),
        "a string": ({"kind": "shape", "body": "a string"}, BROKEN, None),
        "null": ({"kind": "shape", "body": None}, BROKEN, None),
        "no content": ({"kind": "shape", "drop": ["content"]}, BROKEN, None),
        "NUL": ({"kind": "text", "text": "a\0b"}, BROKEN, None),
        "half a character": ({"kind": "text", "text": "a\ud800b"}, BROKEN, None),
        "delay": ({"kind": "delay", "seconds": 1}, TIMEOUT, None),
        "each byte in time": ({"kind": "drip", "seconds": 0.2, "bytes": 20}, TIMEOUT, None),
    }
    client = MessagesClient()
    for name, (rule, kind, code) in faults.items():
        seconds = 0.5 if rule["kind"] in ("delay", "drip") else 60.0
        standin.reset()
        standin.faults(rule)
        with subtests.test(name):
            [ended] = client.send([(Target("demo", standin.url, "any", seconds), REQUEST)])
            assert isinstance(ended, Failed)
            assert (ended.kind, ended.http_status) == (kind, code)
            assert ended.possibly_billed is (kind in (BROKEN, TIMEOUT))


def test_words_of_servers_are_recognized(standin: StandIn, subtests: pytest.Subtests) -> None:
    tokens = "maximum context length is 4096 tokens"
    cases = [
        (503, "Loading model", BUSY, Trouble.LOADING),
        (503, "Service unavailable", BUSY, "api_error"),
        (
            400,
            "request (9 tokens) exceeds the available context size (8)",
            REFUSED,
            Trouble.CONTEXT,
        ),
        (400, f"This model's {tokens}.", REFUSED, Trouble.CONTEXT),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", REFUSED, Trouble.CONTEXT),
        (400, "max_tokens: field required", REFUSED, "invalid_request_error"),
        (401, f"No key. {tokens}", REFUSED, "authentication_error"),
    ]
    for code, message, kind, word in cases:
        standin.faults(status(code, message=message))
        with subtests.test(message):
            [ended] = MessagesClient().send([(Target("demo", standin.url, "any", 60.0), REQUEST)])
            assert isinstance(ended, Failed)
            assert (ended.kind, ended.error_type) == (kind, word)


def test_retry_after_reads_seconds_and_dates(standin: StandIn, subtests: pytest.Subtests) -> None:
    client = MessagesClient()
    waits = {"30": 30.0, "nan": None, "Wed, 21 Oct 2015 07:28:00 GMT": 0.0}
    for header, expected in waits.items():
        standin.faults(status(429, headers={"retry-after": header}))
        with subtests.test(header):
            [ended] = client.send([(Target("demo", standin.url, "any", 60.0), REQUEST)])
            assert isinstance(ended, Failed)
            assert (ended.kind, ended.retry_after) == (BUSY, expected)


def test_lines_are_split_whatever_the_pieces() -> None:
    cases = {
        "whole": ([b"a\nb\n"], [b"a", b"b"]),
        "in pieces, no end": ([b"a", b"b\nc"], [b"ab", b"c"]),
        "empty lines": ([b"\n\n a \n"], [b" a "]),
        "too long is passed over": ([b"xxxx", b"xxxx\nok\n"], [b"ok"]),
        "too long and no end": ([b"xxxxxxxx"], []),
        "cut character": (["é".encode()[:1], "é".encode()[1:]], ["é".encode()]),
    }
    wrong = {
        name: got
        for name, (chunks, lines) in cases.items()
        if (got := list(split_lines(chunks, most=5))) != lines
    }
    assert not wrong


MESSAGE = {
    "content": [{"type": "text", "text": "Yes"}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


def test_each_kind_of_result_is_what_the_ledger_knows(subtests: pytest.Subtests) -> None:
    cases = [
        ({"type": "succeeded", "message": MESSAGE}, None),
        ({"type": "succeeded", "message": "Yes"}, FailureKind.BROKEN),
        ({"type": "succeeded", "message": {"content": [{"text": "\0"}]}}, FailureKind.BROKEN),
        ({"type": "expired"}, FailureKind.EXPIRED),
        ({"type": "canceled"}, FailureKind.CANCELLED),
        ({"type": "melted"}, FailureKind.BROKEN),
        ({"type": "errored", "error": None}, FailureKind.BROKEN),
        ({"type": "errored", "error": {"error": {"type": "invalid_request_error"}}}, FailureKind.REFUSED),
        ({"type": "errored", "error": {"error": {"type": "api_error"}}}, FailureKind.BROKEN),
        ({"type": "errored", "error": {"error": {"type": "billing_error"}}}, FailureKind.LIMIT),
    ]  # fmt: skip
    for result, kind in cases:
        with subtests.test(str(result)):
            name, ended = read_result(json.dumps({"custom_id": "a", "result": result}).encode())
            assert name == "a"
            assert isinstance(ended, Answered) if kind is None else isinstance(ended, Failed)
            assert getattr(ended, "kind", None) == kind


def test_a_line_that_is_no_result_belongs_to_nobody() -> None:
    cases = (b"{", b"[]", b'{"custom_id": 1, "result": {}}', b"[" * 100_000)
    wrong = {line: got for line in cases if (got := read_result(line)[0]) != ""}
    assert not wrong
