"""Payloads of other systems, written by hand according to their documentation."""

from __future__ import annotations

from typing import Any

START = "2026-11-02T03:04:05.123456789Z"
NOT_YET = "0001-01-01T00:00:00Z"


def prometheus_alert(name: str = "a1", *, resolved: bool = False, **labels: str) -> dict[str, Any]:
    """Return one alert of an Alertmanager request."""
    return {
        "status": "resolved" if resolved else "firing",
        "labels": {"alertname": "OldExports", "severity": "critical", "instance": "web-1:9100"}
        | labels,
        "annotations": {
            "summary": "Delete files older than 30 days in /var/tmp/exports",
            "runbook_url": "https://runbooks.example.org/exports",
        },
        "startsAt": START,
        "endsAt": "2026-11-02T04:00:00Z" if resolved else NOT_YET,
        "generatorURL": "http://prometheus.example.org/graph?g0=1",
        "fingerprint": name,
    }


def alertmanager(*alerts: dict[str, Any], group: str = "g1", **more: Any) -> dict[str, Any]:
    """Return an Alertmanager request, version 4."""
    alerts = alerts or (prometheus_alert(),)
    is_over = all(one["status"] == "resolved" for one in alerts)
    return {
        "receiver": "scriptsmith",
        "status": "resolved" if is_over else "firing",
        "alerts": list(alerts),
        "groupLabels": {"alertname": "OldExports"},
        "commonLabels": {"alertname": "OldExports"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example.org",
        "version": "4",
        "groupKey": f'{{}}:{{alertname="{group}"}}',
        "truncatedAlerts": 0,
        **more,
    }


def grafana() -> dict[str, Any]:
    """Return a Grafana request, which has Alertmanager's structure and a few more fields."""
    alert = prometheus_alert() | {
        "values": {"A": 97.5},
        "valueString": "[ var='A' value=97.5 ]",
        "silenceURL": "https://grafana.example.org/alerting/silence/new",
        "dashboardURL": "https://grafana.example.org/d/abc",
        "panelURL": "https://grafana.example.org/d/abc?viewPanel=1",
    }
    return alertmanager(alert) | {
        "orgId": 1,
        "title": "[FIRING:1] OldExports",
        "state": "alerting",
        "message": "**Firing**",
    }


def pagerduty(
    event: str = "incident.triggered",
    *,
    id: str = "01CH754SM17TWPE2V2H4VPBRO7",
    at: str = "2026-11-02T03:05:00Z",
    status: str = "triggered",
) -> dict[str, Any]:
    """Return an event of a PagerDuty webhook, version 3."""
    return {
        "event": {
            "id": id,
            "event_type": event,
            "resource_type": "incident",
            "occurred_at": at,
            "agent": {"id": "PLH1HKV", "type": "user_reference"},
            "client": None,
            "data": {
                "id": "PGR0VU2",
                "type": "incident",
                "self": "https://api.pagerduty.com/incidents/PGR0VU2",
                "html_url": "https://acme.pagerduty.com/incidents/PGR0VU2",
                "number": 2,
                "status": status,
                "incident_key": "d3640fbd41094207a1c11e58e46b1662",
                "created_at": "2026-11-02T03:04:59Z",
                "title": "Disk of web-1 is full",
                "service": {"id": "PF9KMXH", "summary": "Exports", "type": "service_reference"},
                "urgency": "high",
                "priority": {"id": "PSO75BM", "summary": "P1", "type": "priority_reference"},
            },
        }
    }


def instana(state: str = "OPEN") -> dict[str, Any]:
    """Return an issue of Instana's generic webhook."""
    issue = {
        "id": "53650436-8e35-49a3-a610-56b442ae7620",
        "type": "issue",
        "state": state,
        "start": 1793588645000,
        "severity": 10,
        "text": "Garbage Collection Activity High (11%)",
        "suggestion": "Tune your Garbage Collector, reduce allocation rate through code changes",
        "link": "https://instana.example.org/#/?snapshotId=rjhkZXdNzegliVVEswMScGNn0YY",
        "zone": "prod",
        "fqdn": "host1.demo.com",
        "entity": "jvm",
        "entityLabel": "Test jvm",
        "tags": "production, documentation, elasticsearch",
        "container": "test-container",
    }
    return {"issue": issue | ({"end": 1793592245000} if state == "CLOSED" else {})}


GENERIC_MAPPING = {
    "title": "/event/name",
    "key": "/event/id",
    "text": "/event/what",
    "severity": "/event/level",
    "link": "/event/url",
    "done": "/event/over",
    "labels": "/event/tags",
}


def generic(*, over: bool = False) -> dict[str, Any]:
    """Return a request that a custom tool could send."""
    return {
        "event": {
            "name": "Old exports fill /var/tmp",
            "id": 4711,
            "what": "Delete files older than 30 days in /var/tmp/exports",
            "level": "P2",
            "url": "https://tool.example.org/e/4711",
            "over": over,
            "tags": {"team": "web"},
        }
    }
