"""Sample payloads for each kind of source, used by *Test now*."""

from __future__ import annotations

import secrets
from typing import Any

from django.utils import timezone


def make_sample(kind: str, mapping: dict[str, str]) -> dict[str, Any]:
    """Return a payload with one new firing alert."""
    name = f"test-{secrets.token_hex(4)}"
    now = timezone.now().isoformat().replace("+00:00", "Z")
    title = "Test from ScriptSmith: nginx is down on web-1"
    if kind == "pagerduty":
        return {
            "event": {
                "id": name,
                "event_type": "incident.triggered",
                "resource_type": "incident",
                "occurred_at": now,
                "data": {
                    "id": name, "type": "incident", "status": "triggered", "title": title,
                    "urgency": "high", "service": {"summary": "nginx"}, "created_at": now,
                },
            }
        }  # fmt: skip
    if kind == "instana":
        start = int(timezone.now().timestamp() * 1000)
        return {
            "issue": {
                "id": name, "type": "issue", "state": "OPEN", "start": start, "severity": 10,
                "text": title, "suggestion": "Restart nginx", "fqdn": "web-1", "entity": "host",
            }
        }  # fmt: skip
    if kind == "generic":
        return _by_pointers(mapping, title=title, key=name)
    labels = {"alertname": "Test", "severity": "critical", "instance": "web-1:9100", "job": "nginx"}
    return {
        "version": "4", "groupKey": name, "status": "firing", "receiver": "scriptsmith",
        "groupLabels": {"alertname": "Test"}, "commonLabels": labels, "commonAnnotations": {},
        "externalURL": "", "truncatedAlerts": 0,
        "alerts": [
            {
                "status": "firing", "labels": labels, "annotations": {"summary": title},
                "startsAt": now, "endsAt": "0001-01-01T00:00:00Z", "fingerprint": name,
            }
        ],
    }  # fmt: skip


def _by_pointers(mapping: dict[str, str], **values: str) -> dict[str, Any]:
    """Return an object with these values at the pointers of the mapping."""
    document: dict[str, Any] = {}
    prefix = mapping.get("alerts", "")
    alert: dict[str, Any] = {}
    for part, value in values.items():
        _put(alert, mapping.get(part, ""), value)
    if not prefix:
        return alert
    _put(document, prefix, [alert])
    return document


def _put(document: dict[str, Any], pointer: str, value: object) -> None:
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in path:
        document = document.setdefault(part, {})
    document[last] = value
