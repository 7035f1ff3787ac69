"""Tests for the API's JSON parser, including the status and the field of each error."""

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


def test_json_is_read() -> None:
    deep = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    bodies: dict[bytes, object] = {
        b"{}": {},
        '{"a": "gültig 😀"}'.encode(): {"a": "gültig 😀"},
        b'{"a": "\\ud83d\\ude00"}': {"a": "😀"},
        b'{"a": 9223372036854775807}': {"a": 2**63 - 1},
        deep.encode(): json.loads(deep),
    }
    assert {body: parse(body) for body in bodies} == bodies


def test_body_that_is_not_json_is_refused(subtests: pytest.Subtests) -> None:
    for name, body in {
        "nothing": b"",
        "unfinished": b"{",
        "NaN": b'{"a": NaN}',
        "infinity": b'{"a": -Infinity}',
        "a raw NUL": b'{"a": "\x00"}',
        "not UTF-8": b'{"a": "\xff"}',
        "UTF-16": '{"a": "b"}'.encode("utf-16"),
        "a number of 5,000 digits": b'{"a": ' + b"9" * 5000 + b"}",
    }.items():
        with subtests.test(name), pytest.raises(ParseError):
            parse(body)


def test_json_that_cannot_be_used_names_its_field(subtests: pytest.Subtests) -> None:
    for name, body, field in (
        ("NUL", b'{"a": {"b": ["x", "\\u0000"]}}', "a.b.1"),
        ("a lone surrogate", b'{"a": "\\ud800"}', "a"),
        ("a lone surrogate in a name", b'{"\\udfff": 1}', ""),
        ("a duplicate name", b'{"a": 1, "b": 2, "a": 3}', "a"),
        ("a duplicate invalid name", b'{"\\ud800": 1, "\\ud800": 3}', "?"),
        ("beyond 64 bits", b'{"a": 9223372036854775808}', "a"),
        ("beyond a double", b'{"a": 1e999}', "a"),
        ("too deep", b"[" * 33 + b"]" * 33, ""),
        ("20,000 deep", b"[" * 20_000 + b"]" * 20_000, ""),
        ("objects 20,000 deep", b'{"a":' * 20_000 + b"1" + b"}" * 20_000, ""),
    ):
        with subtests.test(name):
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
