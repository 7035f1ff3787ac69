"""Lines of results as servers may send them: in pieces, without end, too long, of no use."""

from __future__ import annotations

import json

import pytest

from pipeline.llm.batches_client import read_result, split_lines
from pipeline.llm.types import Answered, Failed, FailureKind


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
