"""Models of agents and other programs: request counts and the pause that blocks them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone


class AgentCallCount(models.Model):
    """The number of calls of one kind by an account's programs since `since`, across all tokens of the account."""

    class Kind(models.TextChoices):
        CALL = "call"
        REPORT = "report"
        REQUEST = "request"

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind)
    count = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "kind"], name="agent_call_count_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["call", "report", "request"]),
                name="agent_call_count_kind_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.user_id}: {self.count}"


class AgentPause(models.Model):
    """A pause of all agents, in effect while the row exists."""

    at = models.DateTimeField(default=timezone.now, editable=False)
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    # Limit the table to one row.
    only = models.BooleanField(default=True, unique=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(only=True), name="agent_pause_only"),
        ]

    def __str__(self) -> str:
        return f"since {self.at:%Y-%m-%d %H:%M}"
