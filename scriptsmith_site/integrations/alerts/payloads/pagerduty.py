"""Parser for PagerDuty webhooks, version 3. Each request contains one event of one incident."""

from __future__ import annotations

from typing import Any

from scriptsmith_site.integrations.alerts.texts import (
    clean_line,
    clean_link,
    hash_of,
    read_severity,
    read_time,
)
from scriptsmith_site.integrations.alerts.types import (
    HIGH,
    LOW,
    Received,
    ReceivedAlert,
    Unreadable,
)

_URGENCIES = {"high": HIGH, "low": LOW}


def read(document: dict[str, Any]) -> Received:
    """Parse a request. Events without an incident state, such as a ping, contain no alerts. Raises Unreadable."""
    event = document.get("event")
    if not isinstance(event, dict) or not isinstance(event.get("event_type"), str):
        raise Unreadable("The body has no event with an event_type.")
    data = event.get("data")
    if not event["event_type"].startswith("incident.") or not isinstance(data, dict):
        return Received(alerts=[])
    if data.get("type") not in ("incident", None) or not data.get("id"):
        return Received(alerts=[])  # for example a note or a responder
    key = hash_of(data["id"])
    labels = {
        "service": clean_line(_summary(data.get("service")), most=1_000),
        "urgency": clean_line(data.get("urgency"), most=40),
        "priority": clean_line(_summary(data.get("priority")), most=40),
        "number": clean_line(data.get("number"), most=40),
        "incident_key": clean_line(data.get("incident_key"), most=1_000),
    }
    labels = {name: value for name, value in labels.items() if value}
    title = clean_line(data.get("title")) or "Incident without a title"
    return Received(
        alerts=[
            ReceivedAlert(
                key=key,
                group=key,
                title=title,
                is_resolved=data.get("status") == "resolved"
                or event["event_type"] == "incident.resolved",
                severity=read_severity(
                    labels.get("priority"),
                    otherwise=_URGENCIES.get(labels.get("urgency", ""), HIGH),
                ),
                text=title,
                labels=labels,
                link=clean_link(data.get("html_url")),
                starts_at=read_time(data.get("created_at")),
                said_at=read_time(event.get("occurred_at")),
            )
        ]
    )


def event_id(document: dict[str, Any]) -> str:
    """Return PagerDuty's event ID, which stays the same when an event is delivered again, or an empty string."""
    event = document.get("event")
    found = event.get("id") if isinstance(event, dict) else None
    return found if isinstance(found, str) else ""


def _summary(found: object) -> object:
    return found.get("summary") or found.get("name") if isinstance(found, dict) else found
