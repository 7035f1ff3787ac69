"""IdempotencyKey: the first response to an API client's request, returned again if the client repeats the request."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from pipeline.models.action import Action


class IdempotencyKey(models.Model):
    """A key that an API client sent with a script request. It is deleted after a day, or with the action's texts."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    body = models.CharField(max_length=64)  # keyed hash
    action = models.ForeignKey(Action, models.CASCADE, null=True, related_name="+")
    response = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.key[:8]}…"
