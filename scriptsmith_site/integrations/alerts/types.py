"""What a request of any source says, in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

CRITICAL, HIGH, MEDIUM, LOW = 1, 2, 3, 4


class Unreadable(Exception):
    """The body is not what this kind of source sends; the text says what is wrong with it."""


@dataclass(frozen=True, kw_only=True)
class ReceivedAlert:
    """One alert as it was sent; texts are clean and of a bounded length."""

    key: str  # hash: the same one from its start to its end
    group: str  # hash: what is told on one card
    title: str
    is_resolved: bool = False
    severity: int = MEDIUM
    text: str = ""  # what is to be done or what happened, in a sentence
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    link: str = ""
    runbook: str = ""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    # When the sender said so; None where starts and ends tell what is newer.
    said_at: datetime | None = None
    # Annotations that it has in common with the other alerts of its request: kept once, with the incident.
    shared: Mapping[str, str] = field(default_factory=dict)

    @property
    def says_when(self) -> bool:
        """Whether the sender tells this firing from an earlier one; else only the order of its requests does."""
        return bool(self.starts_at or self.said_at)


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request. `truncated` counts alerts that the sender cut, or that were too many to be read."""

    alerts: Sequence[ReceivedAlert]
    truncated: int = 0
    # Hash of the group that is resolved as a whole, alerts that were cut included; empty for none.
    resolved_group: str = ""
