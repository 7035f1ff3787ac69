"""Lines of results as servers may send them: in pieces, without end, too long, of no use."""

from __future__ import annotations

import json

import pytest

from pipeline.llm.batches_client import read_result, split_lines
from pipeline.llm.types import Answered, Failed, FailureKind


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        pytest.param([b"a\nb\n"], [b"a", b"b"], id="whole"),
        pytest.param([b"a", b"b\nc"], [b"ab", b"c"], id="in pieces, no end"),
        pytest.param([b"\n\n a \n"], [b" a "], id="empty lines"),
        pytest.param([b"xxxx", b"xxxx\nok\n"], [b"ok"], id="too long is passed over"),
        pytest.param([b"xxxxxxxx"], [], id="too long and no end"),
        pytest.param(["é".encode()[:1], "é".encode()[1:]], ["é".encode()], id="cut character"),
    ],
)
def test_lines_are_split_whatever_the_pieces(chunks: list[bytes], lines: list[bytes]) -> None:
    assert list(split_lines(chunks, most=5)) == lines


MESSAGE = {
    "content": [{"type": "text", "text": "Yes"}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"type": "succeeded", "message": MESSAGE}, None),
        ({"type": "succeeded", "message": "Yes"}, FailureKind.BROKEN),
        ({"type": "succeeded", "message": {"content": [{"text": "\0"}]}}, FailureKind.BROKEN),
        ({"type": "expired"}, FailureKind.EXPIRED),
        ({"type": "canceled"}, FailureKind.CANCELLED),
        ({"type": "melted"}, FailureKind.BROKEN),
        ({"type": "errored", "error": None}, FailureKind.BROKEN),
        (
            {"type": "errored", "error": {"error": {"type": "invalid_request_error"}}},
            FailureKind.REFUSED,
        ),
        ({"type": "errored", "error": {"error": {"type": "api_error"}}}, FailureKind.BROKEN),
        ({"type": "errored", "error": {"error": {"type": "billing_error"}}}, FailureKind.LIMIT),
    ],
)
def test_each_kind_of_result_is_what_the_ledger_knows(
    result: dict[str, object], kind: FailureKind | None
) -> None:
    name, ended = read_result(json.dumps({"custom_id": "a", "result": result}).encode())
    assert name == "a"
    assert isinstance(ended, Answered) if kind is None else isinstance(ended, Failed)
    assert getattr(ended, "kind", None) == kind


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"custom_id": 1, "result": {}}', b"[" * 100_000])
def test_a_line_that_is_no_result_belongs_to_nobody(line: bytes) -> None:
    assert read_result(line)[0] == ""
