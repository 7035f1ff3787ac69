"""JSON logs. Each line has the ID of its request or run, and secrets are masked."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TextIO

from pythonjsonlogger.core import LogData
from pythonjsonlogger.json import JsonFormatter

from core.process import write_to_console

MASK = "***"

request_id: ContextVar[str] = ContextVar("request_id", default="")
run_id: ContextVar[int | None] = ContextVar("run_id", default=None)

_SECRET_NAME = r"[\w-]*(?:passw(?:or)?d|secret|token|api[_-]?key|authorization|cookie|sessionid)"
_IS_SECRET = re.compile(_SECRET_NAME, re.IGNORECASE)
# Each pattern keeps its first group and masks the rest of the match.
_SECRETS = (
    re.compile(r"()\b(?:sk-ant-|sst_)[\w-]+"),
    re.compile(r"(\b(?:Bearer|Basic)\s+)[\w.~+/=-]+", re.IGNORECASE),
    re.compile(r"(://[^\s/:@]*:)[^\s/@]+(?=@)"),
    re.compile(r"(/set-password/)[\w-]+"),
    re.compile(r"(/hooks/[\w-]+/\d+/)[^\s\"'?]+"),
    # Quoted values may contain spaces. Unquoted values end at the next separator.
    re.compile(
        rf"""({_SECRET_NAME}["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s"',;&}}]+)""", re.IGNORECASE
    ),
)


class ContextFilter(logging.Filter):
    """A filter that adds the IDs of the request and the run to records that lack them."""

    def filter(self, record: logging.LogRecord) -> bool:
        if request_id.get() and not hasattr(record, "request_id"):
            record.request_id = request_id.get()
        if run_id.get() is not None and not hasattr(record, "run_id"):
            record.run_id = run_id.get()
        return True


class LogHandler(logging.StreamHandler[TextIO]):
    """A handler that writes lines to standard error.

    Errors, and lines that can't be written there, are also written to the supervisor's standard error.
    """

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record) + self.terminator
        except Exception:
            return self.handleError(record)
        is_urgent = record.levelno >= logging.ERROR
        try:
            self.stream.write(line)
            self.flush()
        except (OSError, ValueError):
            is_urgent = True
        if is_urgent:
            write_to_console(line)


class JsonLines(JsonFormatter):
    """A formatter that writes one JSON object per line: time, level, logger, message, IDs and extras, with secrets
    masked.
    """

    def __init__(self) -> None:
        super().__init__(
            ["levelname", "name", "message"],
            rename_fields={"levelname": "level", "name": "logger"},
            timestamp="time",
        )

    def process_log_record(self, log_data: LogData) -> LogData:
        return {name: _mask_value(name, value) for name, value in log_data.items()}


def mask_secrets(text: str) -> str:
    """Return the text with keys, tokens and passwords replaced by asterisks."""
    for pattern in _SECRETS:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return text


def follow_run(task: object, args: Sequence[object], **_signal: object) -> None:
    """Add the task's run to the log lines of this worker thread. Celery calls this before each task."""
    is_of_run = getattr(task, "name", "") == "pipeline.execute_run"
    run_id.set(args[0] if is_of_run and args and isinstance(args[0], int) else None)


def _mask_value(name: str, value: object) -> object:
    if _IS_SECRET.fullmatch(name):
        return MASK
    if isinstance(value, str):
        return mask_secrets(value)
    if isinstance(value, Mapping):
        return {key: _mask_value(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mask_value("", inner) for inner in value]
    return value
