"""Parser for Instana's *generic webhook* alert channel, which sends one opened or closed issue per request."""

from __future__ import annotations

from typing import Any

from scriptsmith_site.integrations.alerts.texts import (
    clean,
    clean_line,
    clean_link,
    hash_of,
    read_time,
)
from scriptsmith_site.integrations.alerts.types import (
    CRITICAL,
    MEDIUM,
    Received,
    ReceivedAlert,
    Unreadable,
)

_LABELS = ("zone", "fqdn", "entity", "entityLabel", "tags", "container", "service", "type")
_CRITICAL_FROM = 10  # Instana uses 5 (warning) and 10 (critical)


def read(document: dict[str, Any]) -> Received:
    """Parse a request. Raises Unreadable if it has no issue with an id."""
    issue = document.get("issue")
    if not isinstance(issue, dict) or not issue.get("id"):
        raise Unreadable("The body has no issue with an id.")
    severity = issue.get("severity")
    is_critical = isinstance(severity, int | float) and severity >= _CRITICAL_FROM
    labels = {name: clean_line(issue.get(name), most=1_000) for name in _LABELS}
    title = clean_line(issue.get("text")) or "Issue without a text"
    suggestion = clean(issue.get("suggestion"))
    return Received(
        alerts=[
            ReceivedAlert(
                key=hash_of(issue["id"], issue.get("start")),
                group=hash_of(issue["id"]),
                title=title,
                is_resolved=str(issue.get("state")).upper() == "CLOSED",
                severity=CRITICAL if is_critical else MEDIUM,
                text=suggestion or title,
                labels={name: value for name, value in labels.items() if value},
                annotations={"suggestion": suggestion} if suggestion else {},
                link=clean_link(issue.get("link")),
                starts_at=read_time(issue.get("start")),
                ends_at=read_time(issue.get("end")),
            )
        ]
    )
