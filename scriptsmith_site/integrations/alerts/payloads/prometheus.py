"""Parser for Alertmanager (version 4) and Grafana, which sends the same format with more fields."""

from __future__ import annotations

from typing import Any

from scriptsmith_site.integrations.alerts.texts import (
    LONGEST_ANNOTATIONS,
    clean,
    clean_line,
    clean_link,
    clean_words,
    hash_of,
    read_severity,
    read_time,
)
from scriptsmith_site.integrations.alerts.types import Received, ReceivedAlert, Unreadable

MOST_ALERTS = 2_000  # per request; further alerts count as truncated
_TITLES = ("summary", "title")
_STATEMENTS = ("suggestion", "action", "summary", "title", "message", "description")


def read(document: dict[str, Any]) -> Received:
    """Parse a request. Raises Unreadable if it has no alerts."""
    alerts = document.get("alerts")
    if not isinstance(alerts, list) or not alerts:
        raise Unreadable("The body has no list of alerts.")
    if not all(isinstance(one, dict) for one in alerts):
        raise Unreadable("One of the alerts is not an object.")
    name = document.get("groupKey") or clean_words(document.get("groupLabels"))
    group = hash_of(name or "all")
    cut = document.get("truncatedAlerts")
    truncated = cut if isinstance(cut, int) and not isinstance(cut, bool) and cut > 0 else 0
    common = clean_words(document.get("commonAnnotations"), most=4_000, in_all=LONGEST_ANNOTATIONS)
    return Received(
        alerts=[_read_alert(one, document, group, common) for one in alerts[:MOST_ALERTS]],
        truncated=min(truncated, 1_000_000) + max(0, len(alerts) - MOST_ALERTS),
        resolved_group=group if document.get("status") == "resolved" else "",
    )


def _read_alert(
    alert: dict[str, Any], document: dict[str, Any], group: str, common: dict[str, str]
) -> ReceivedAlert:
    labels = clean_words(alert.get("labels"))
    own = clean_words(alert.get("annotations"), most=4_000, in_all=LONGEST_ANNOTATIONS)
    # Grafana also sends the measured values.
    if values := clean(alert.get("valueString"), most=1_000):
        own.setdefault("values", values)
    annotations = common | own
    name = labels.get("alertname", "")
    title = next((annotations[one] for one in _TITLES if annotations.get(one)), name)
    fingerprint = alert.get("fingerprint") or sorted(labels.items())
    starts_at = read_time(alert.get("startsAt"))
    link = clean_link(alert.get("panelURL")) or clean_link(alert.get("dashboardURL"))
    return ReceivedAlert(
        # Include the group, because two routes may send the same alert in two groups, which have separate incidents.
        key=hash_of(group, fingerprint, starts_at or alert.get("startsAt")),
        group=group,
        title=clean_line(title) or clean_line(document.get("title")) or "Alert without a name",
        is_resolved=alert.get("status", document.get("status")) == "resolved",
        severity=read_severity(labels.get("severity") or labels.get("priority")),
        text=next((annotations[one] for one in _STATEMENTS if annotations.get(one)), name),
        labels=labels,
        annotations=own,
        shared=common,
        link=link
        or clean_link(alert.get("generatorURL"))
        or clean_link(document.get("externalURL")),
        runbook=clean_link(annotations.get("runbook_url")),
        starts_at=starts_at,
        ends_at=read_time(alert.get("endsAt")),
    )
