"""What the API's parser takes, and how it refuses the rest: each with its status and the field it is about."""

from __future__ import annotations

import io
import json

import pytest
from django.test import override_settings
from rest_framework.exceptions import ParseError

from core.errors import BadInput
from core.web.parsers import MOST_DEPTH, JSONParser, TooLarge


def parse(body: bytes) -> object:
    return JSONParser().parse(io.BytesIO(body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b"{}", {}, id="nothing"),
        pytest.param('{"a": "gültig 😀"}'.encode(), {"a": "gültig 😀"}, id="beyond ASCII"),
        pytest.param(b'{"a": "\\ud83d\\ude00"}', {"a": "😀"}, id="a pair of surrogates"),
        pytest.param(b'{"a": 9223372036854775807}', {"a": 2**63 - 1}, id="the largest number"),
        pytest.param(
            b"[" * MOST_DEPTH + b"]" * MOST_DEPTH,
            json.loads("[" * MOST_DEPTH + "]" * MOST_DEPTH),
            id="as deep as may be",
        ),
    ],
)
def test_json_is_read(body: bytes, expected: object) -> None:
    assert parse(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{", id="unfinished"),
        pytest.param(b'{"a": NaN}', id="NaN"),
        pytest.param(b'{"a": -Infinity}', id="infinity"),
        pytest.param(b'{"a": "\x00"}', id="a raw NUL"),
        pytest.param(b'{"a": "\xff"}', id="no UTF-8"),
        pytest.param('{"a": "b"}'.encode("utf-16"), id="UTF-16"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", id="a number of 5,000 digits"),
    ],
)
def test_what_is_no_json_is_said_so(body: bytes) -> None:
    with pytest.raises(ParseError):
        parse(body)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param(b'{"a": {"b": ["x", "\\u0000"]}}', "a.b.1", id="NUL"),
        pytest.param(b'{"a": "\\ud800"}', "a", id="a lone surrogate"),
        pytest.param(b'{"\\udfff": 1}', "", id="a lone surrogate in a name"),
        pytest.param(b'{"a": 1, "b": 2, "a": 3}', "a", id="a name given twice"),
        pytest.param(b'{"\\ud800": 1, "\\ud800": 3}', "?", id="a name given twice that is none"),
        pytest.param(b'{"a": 9223372036854775808}', "a", id="beyond 64 bits"),
        pytest.param(b'{"a": 1e999}', "a", id="beyond a double"),
        pytest.param(b"[" * 33 + b"]" * 33, "", id="too deep"),
        pytest.param(b"[" * 20_000 + b"]" * 20_000, "", id="20,000 deep"),
        pytest.param(b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "", id="objects 20,000 deep"),
    ],
)
def test_json_that_cannot_be_used_names_its_field(body: bytes, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse(body)
    assert refused.value.field == field
    assert str(refused.value).encode()


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=100)
def test_no_more_is_read_than_the_limit() -> None:
    assert parse(b'"' + b"x" * 98 + b'"') == "x" * 98
    stream = io.BytesIO(b"x" * 10_000)
    with pytest.raises(TooLarge):
        JSONParser().parse(stream)
    assert stream.tell() == 101
