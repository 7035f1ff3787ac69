"""Tests that no secret reaches a log in any form."""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from core import process
from scriptsmith_site.logs import (
    MASK,
    ContextFilter,
    JsonLines,
    LogHandler,
    mask_secrets,
    request_id,
    run_id,
)

SECRET = "s3cr3t-Value_of.mine"


SECRETS = [
    f"Authorization: Bearer {SECRET}",
    f'{{"authorization": "Bearer {SECRET}"}}',
    f"{{'Authorization': 'Basic {SECRET}'}}",
    f"sent bearer {SECRET} to it",
    f"x-api-key: {SECRET}",
    "key sk-ant-api03-s3cr3t-Value_of",
    "token sst_s3cr3t-Value_of",
    f"password={SECRET}&next=/",
    f"PGPASSWORD={SECRET} psql",
    f"password: 's3cr3t {SECRET}'",
    f'"client_secret": "{SECRET}"',
    f"api_key = {SECRET}",
    f"postgresql://smith:{SECRET}@db/scripts",
    f"redis://:{SECRET}@cache:6379/0",
    f"Cookie: a=1; sessionid={SECRET}",
    "GET /set-password/s3cr3t-Value_of/ 404",
    "POST /hooks/instana/7/s3cr3t-Value_of 500",
]
ORDINARY = [
    "input_tokens=35 output_tokens: 7",
    "run 7 failed: the script has no password check",
    "https://example.org/a:b",
    "task-force sk-something",
]


def test_secrets_are_masked_and_ordinary_text_is_not() -> None:
    masked = {text: mask_secrets(text) for text in SECRETS + ORDINARY}
    assert [text for text in SECRETS if "s3cr3t" in masked[text] or MASK not in masked[text]] == []
    assert [text for text in ORDINARY if masked[text] != text] == []


def test_log_line_reaches_the_supervisor_when_urgent_or_the_disk_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    monkeypatch.setattr(process, "console", writer)
    for file, level in (("/dev/null", 30), ("/dev/null", 40), ("/dev/full", 30)):
        with suppress(OSError), Path(file).open("w", buffering=1) as stream:
            LogHandler(stream).emit(
                logging.LogRecord("", level, "", 1, f"{file} {level}", (), None)
            )
    assert os.read(reader, 4096).decode().splitlines() == ["/dev/null 40", "/dev/full 30"]
    os.set_blocking(reader, False)
    # This call must not block, although no process reads the output.
    process.write_to_console("x" * 2**20)
    monkeypatch.setattr(process, "console", reader)
    process.write_to_console("not writable")


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
