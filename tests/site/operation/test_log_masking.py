"""No secret reaches a log, whichever way it comes."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from scriptsmith_site.logs import MASK, ContextFilter, JsonLines, mask_secrets, request_id, run_id

SECRET = "s3cr3t-Value_of.mine"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Authorization: Bearer {SECRET}", id="header"),
        pytest.param(f'{{"authorization": "Bearer {SECRET}"}}', id="header in JSON"),
        pytest.param(f"{{'Authorization': 'Basic {SECRET}'}}", id="header in a dict's repr"),
        pytest.param(f"sent bearer {SECRET} to it", id="bearer in a sentence"),
        pytest.param(f"x-api-key: {SECRET}", id="key of the Messages API"),
        pytest.param("key sk-ant-api03-s3cr3t-Value_of", id="a key by its look"),
        pytest.param("token sst_s3cr3t-Value_of", id="one of our tokens by its look"),
        pytest.param(f"password={SECRET}&next=/", id="form data"),
        pytest.param(f"PGPASSWORD={SECRET} psql", id="environment variable"),
        pytest.param(f"password: 's3cr3t {SECRET}'", id="quoted, with a space"),
        pytest.param(f'"client_secret": "{SECRET}"', id="JSON"),
        pytest.param(f"api_key = {SECRET}", id="assignment with spaces"),
        pytest.param(f"postgresql://smith:{SECRET}@db/scripts", id="address of a database"),
        pytest.param(f"redis://:{SECRET}@cache:6379/0", id="address without a name"),
        pytest.param(f"Cookie: a=1; sessionid={SECRET}", id="cookie"),
        pytest.param("GET /set-password/s3cr3t-Value_of/ 404", id="one-time link"),
    ],
)
def test_a_secret_is_masked(text: str) -> None:
    masked = mask_secrets(text)
    assert "s3cr3t" not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("input_tokens=35 output_tokens: 7", id="counts of tokens"),
        pytest.param("run 7 failed: the script has no password check", id="a word in a sentence"),
        pytest.param("https://example.org/a:b", id="an address without a password"),
        pytest.param("task-force sk-something", id="looks a little alike"),
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_secrets(text) == text


def log_line(message: str, *, extra: dict[str, object] | None = None, error: bool = False) -> str:
    record = logging.getLogger("test").makeRecord(
        "test",
        logging.INFO,
        "file.py",
        1,
        message,
        (),
        sys.exc_info() if error else None,
        extra=extra,
    )
    ContextFilter().filter(record)
    return JsonLines().format(record)


def test_a_line_is_one_json_object_with_the_ids_of_request_and_run() -> None:
    tokens = request_id.set("request-1"), run_id.set(7)
    try:
        line = log_line("two\nlines", extra={"stage": "describe"})
    finally:
        request_id.reset(tokens[0])
        run_id.reset(tokens[1])
    assert "\n" not in line
    written = json.loads(line)
    assert written.pop("time")
    assert written == {
        "level": "INFO",
        "logger": "test",
        "message": "two\nlines",
        "stage": "describe",
        "request_id": "request-1",
        "run_id": 7,
    }


def test_secrets_in_extras_and_tracebacks_are_masked() -> None:
    extra: dict[str, object] = {
        "password": SECRET,
        "headers": {"X-Api-Key": SECRET, "Accept": "text/html"},
        "tries": [f"token={SECRET}", 3],
        "input_tokens": 35,
    }
    try:
        raise ValueError(f"password={SECRET}")
    except ValueError:
        line = log_line("failed", extra=extra, error=True)
    assert SECRET not in line
    written = json.loads(line)
    assert written["headers"] == {"X-Api-Key": MASK, "Accept": "text/html"}
    assert written["tries"] == [f"token={MASK}", 3]
    assert written["input_tokens"] == 35
    assert "ValueError" in written["exc_info"]
