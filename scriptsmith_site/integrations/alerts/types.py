"""The common form of alert requests from all sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

CRITICAL, HIGH, MEDIUM, LOW = 1, 2, 3, 4


class Unreadable(Exception):
    """The body is not valid for this kind of source. The message names the problem."""


@dataclass(frozen=True, kw_only=True)
class ReceivedAlert:
    """An alert as received, with cleaned text of limited length."""

    key: str  # hash that stays the same while the alert fires
    group: str  # hash of the alerts that share an incident
    title: str
    is_resolved: bool = False
    severity: int = MEDIUM
    text: str = ""  # what to do or what happened, in one sentence
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    runbook: str = ""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    # The time at which the sender reported this state. None if the start and end times are enough to order reports.
    said_at: datetime | None = None
    # Annotations that all alerts of the request share, stored once with the incident.
    shared: Mapping[str, str] = field(default_factory=dict)

    @property
    def says_when(self) -> bool:
        """Return whether a timestamp distinguishes this alert from earlier ones.

        Otherwise, the order of requests decides.
        """
        return bool(self.starts_at or self.said_at)


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request. `truncated` counts alerts that the sender omitted or that exceed the limit."""

    alerts: Sequence[ReceivedAlert]
    truncated: int = 0
    # The hash of a group whose alerts are all resolved, including omitted alerts, or empty.
    resolved_group: str = ""
