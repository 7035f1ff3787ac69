"""Clean external text: replace control characters, limit lengths, and accept only web links."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from scriptsmith_site.integrations.alerts.types import (
    CRITICAL,
    HIGH,
    LOW,
    MEDIUM,
    Unreadable,
)

MOST_DEPTH = 64  # nesting levels of a document
LONGEST_NAME = 100
LONGEST_LABEL = 1_000
LONGEST_TEXT = 4_000
LONGEST_ANNOTATIONS = 16_000  # per alert, for names and texts together
LONGEST_TITLE = 300
LONGEST_LINK = 2_000
MOST_LABELS = 64

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LINE_ENDS = re.compile(r"\r\n?")
_SPACES = re.compile(r"\s+")

_SEVERITIES = {
    **dict.fromkeys(("critical", "emergency", "disaster", "fatal", "page", "p1", "sev1"), CRITICAL),
    **dict.fromkeys(("high", "error", "major", "p2", "sev2"), HIGH),
    **dict.fromkeys(("medium", "warning", "warn", "average", "minor", "p3", "sev3"), MEDIUM),
    **dict.fromkeys(
        ("low", "info", "informational", "notice", "none", "ok", "p4", "p5", "sev4", "sev5"), LOW
    ),
    **{str(number): number for number in (CRITICAL, HIGH, MEDIUM, LOW)},
}
_DONE = frozenset({"true", "resolved", "closed", "done", "ok", "recovered", "normal", "inactive"})


def read_json(body: bytes) -> dict[str, Any] | list[Any]:
    """Parse a JSON object or list, without validating its strings. Raises Unreadable."""
    try:
        found = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Unreadable("The body is not valid JSON in UTF-8.") from error
    if not isinstance(found, dict | list):
        raise Unreadable("The body is neither a JSON object nor a list.")
    _require_shallow(found)
    return found


def _require_shallow(document: object) -> None:
    """Raise Unreadable if the document is nested so deeply that a recursive function could overflow the stack."""
    # Use a loop, because recursion could overflow the stack here too.
    level: list[object] = [document]
    for _depth in range(MOST_DEPTH + 1):
        inner = [one for one in level if isinstance(one, dict | list)]
        if not inner:
            return
        level = [
            value for one in inner for value in (one.values() if isinstance(one, dict) else one)
        ]
    raise Unreadable("The body is nested too deeply.")


def clean(value: object, *, most: int = LONGEST_TEXT) -> str:
    """Return a value as text with control characters replaced. Long text is truncated and ends with an ellipsis."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = value
    elif isinstance(value, bool | int | float):
        text = json.dumps(value)
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    # Truncate the text first, because it may be a megabyte long.
    text = _LINE_ENDS.sub("\n", text[: most + 1])
    text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).strip()
    return text if len(text) <= most else text[: most - 1] + "…"


def clean_line(value: object, *, most: int = LONGEST_TITLE) -> str:
    """Return a value as cleaned text on one line."""
    return clean(_SPACES.sub(" ", clean(value)), most=most)


def clean_words(
    found: object, *, most: int = LONGEST_LABEL, in_all: int = MOST_LABELS * LONGEST_TEXT
) -> dict[str, str]:
    """Return labels or annotations, limited in number and length. Anything but an object is treated as empty."""
    if not isinstance(found, Mapping):
        return {}
    words = {}
    for name, value in list(found.items())[:MOST_LABELS]:
        if cleaned := clean_line(name, most=LONGEST_NAME):
            text = clean(value, most=max(1, min(most, in_all - len(cleaned))))
            in_all -= len(cleaned) + len(text)
            if in_all < 0:
                break
            words[cleaned] = text
    return words


def clean_link(value: object) -> str:
    """Return an http or https URL unchanged, or an empty string for anything else."""
    if not isinstance(value, str) or len(value) > LONGEST_LINK or _CONTROL.search(value):
        return ""
    value = value.strip()
    if not value.isprintable() or any(character in value for character in " \\\"'<>`"):
        return ""
    try:
        parts = urlsplit(value)
        is_of_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    # A URL with credentials either exposes a secret or is deceptive.
    return value if is_of_web and "@" not in parts.netloc else ""


def read_severity(value: object, *, otherwise: int = MEDIUM) -> int:
    """Convert a monitoring system's severity to a number from 1 (critical) to 4 (low)."""
    return _SEVERITIES.get(clean_line(value, most=40).lower(), otherwise)


def is_done(value: object) -> bool:
    """Return whether a value means that the alert is resolved."""
    return clean_line(value, most=40).lower() in _DONE


def read_time(value: object) -> datetime | None:
    """Parse an RFC 3339 time or milliseconds.

    Return None for an empty or invalid value and for the year 1, which means *not yet*.
    """
    try:
        if isinstance(value, bool) or value is None or value == "":
            return None
        if isinstance(value, int | float):
            found = datetime.fromtimestamp(value / 1_000, UTC)
        else:
            # Go writes nanoseconds, which Python cannot parse.
            text = re.sub(r"(\.\d{6})\d+", r"\1", str(value)[:40]).replace("Z", "+00:00")
            found = datetime.fromisoformat(text)
            found = found if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    # Convert to UTC, because an alert's key depends on the time.
    return found.astimezone(UTC) if 1970 <= found.year < 9000 else None


def hash_of(*parts: object) -> str:
    """Return a single hash of multiple values of any length."""
    text = json.dumps([str(part) for part in parts])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
