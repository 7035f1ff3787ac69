"""Parser for any JSON. A mapping assigns JSON pointers (RFC 6901) to the parts of an alert."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scriptsmith_site.integrations.alerts.texts import (
    clean,
    clean_line,
    clean_link,
    clean_words,
    hash_of,
    is_done,
    read_severity,
)
from scriptsmith_site.integrations.alerts.types import Received, ReceivedAlert, Unreadable

MOST_ALERTS = 2_000
# The parts of an alert that a mapping may contain. The first two are required.
PARTS = ("title", "key", "text", "severity", "link", "done", "labels", "alerts")
REQUIRED = PARTS[:2]


def check_pointer(pointer: str) -> str:
    """Return an error message for an invalid JSON pointer, or an empty string for a valid one."""
    if not pointer.startswith("/"):
        return "A JSON pointer must start with /, as in /alert/title."
    if any(part.replace("~0", "").replace("~1", "").count("~") for part in pointer.split("/")):
        return "In a JSON pointer, write ~0 for ~, and ~1 for / in a name."
    return ""


def find(document: object, pointer: str) -> object:
    """Return the value at the pointer, or None if it does not exist."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(name)
        elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


def read(document: dict[str, Any] | list[Any], mapping: Mapping[str, str]) -> Received:
    """Parse a request. Raises Unreadable if a required part of an alert is missing."""
    found: object = document
    if pointer := mapping.get("alerts"):
        found = find(document, pointer)
        if not isinstance(found, list):
            raise Unreadable(f"{pointer} is not a list of alerts.")
    alerts = found if isinstance(found, list) else [found]
    return Received(
        alerts=[_read_alert(one, mapping) for one in alerts[:MOST_ALERTS]],
        truncated=max(0, len(alerts) - MOST_ALERTS),
    )


def _read_alert(alert: object, mapping: Mapping[str, str]) -> ReceivedAlert:
    parts = {
        name: find(alert, pointer)
        for name, pointer in mapping.items()
        if pointer and name != "alerts"
    }
    for name in REQUIRED:
        if parts.get(name) in (None, "", [], {}):
            raise Unreadable(f"The alert has no {name} at {mapping.get(name, '')}.")
    title = clean_line(parts["title"])
    key = hash_of(clean(parts["key"]))
    return ReceivedAlert(
        key=key,
        group=key,
        title=title,
        is_resolved=is_done(parts.get("done")),
        severity=read_severity(parts.get("severity")),
        text=clean(parts.get("text")) or title,
        labels=clean_words(parts.get("labels")),
        link=clean_link(parts.get("link")),
    )
