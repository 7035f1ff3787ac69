"""The latest tool calls of agents, read from the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from auditlog.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django.utils import timezone

from scriptsmith_site.integrations.agents import protocol
from scriptsmith_site.integrations.agents.caller import AGENT_SCOPES
from scriptsmith_site.models import ApiToken

_SHOWN = 20
_EVENT = "agent called "


@dataclass(frozen=True)
class Call:
    """One tool call."""

    record: LogEntry
    tool: str
    answer: str
    entries: str

    @property
    def was_refused(self) -> bool:
        return self.answer == protocol.REFUSED


def live_tokens() -> QuerySet[ApiToken]:
    """Return the active tokens that have an agent scope."""
    return ApiToken.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=timezone.now()),
        scopes__overlap=sorted(AGENT_SCOPES),
        revoked_at=None,
        user__is_active=True,
    )


def last_calls() -> list[Call]:
    """Return the newest calls made with tokens. Exclude test calls, which are logged under the user."""
    kind = ContentType.objects.get_for_model(ApiToken)
    records = LogEntry.objects.filter(content_type=kind).select_related("actor").order_by("-pk")
    return [_call(record) for record in records[:_SHOWN]]


def _call(record: LogEntry) -> Call:
    changes = cast("Mapping[str, list[str]]", record.changes or {})
    event = str((record.additional_data or {}).get("event", ""))
    answer, entries = (changes.get(name, ["", ""])[1] for name in ("answer", "entries"))
    return Call(record, event.removeprefix(_EVENT), answer, entries)
