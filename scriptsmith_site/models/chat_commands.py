"""Models of slash commands in chat systems: who may use them and which requests arrived."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class ChatCommand(models.Model):
    """A slash command of one workspace. Without a secret, it rejects all requests."""

    class Kind(models.TextChoices):
        SLACK = "slack", _("Slack")
        MATTERMOST = "mattermost", _("Mattermost")

    kind = models.CharField(_("kind"), max_length=10, choices=Kind)
    name = models.CharField(_("name"), max_length=80, unique=True)
    # Slack's signing secret, or Mattermost's token, encrypted.
    sealed = models.TextField(blank=True)
    # The workspace or team that may use the command. If empty, any workspace with the secret may use it.
    team = models.CharField(_("workspace"), max_length=40, blank=True)
    requests_per_minute = models.PositiveIntegerField(_("requests per minute"), default=60)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    # Unauthenticated requests, which anyone can send. They don't count as errors of the command.
    refusals = models.PositiveBigIntegerField(default=0)
    last_refused_at = models.DateTimeField(null=True, blank=True)
    last_refusal = models.CharField(max_length=300, blank=True)
    edition = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["slack", "mattermost"]), name="chat_command_kind_legal"
            )
        ]

    def __str__(self) -> str:
        return self.name


class ChatCommandCall(models.Model):
    """An authenticated request, stored so that a replay is rejected. Its text is not stored."""

    command = models.ForeignKey(ChatCommand, models.CASCADE, related_name="calls")
    # Hash of the request's signature or of the ID that Mattermost assigns to it.
    key = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["command", "key"], name="chat_command_call_once")
        ]

    def __str__(self) -> str:
        return f"{self.command_id} {self.key[:8]}"
