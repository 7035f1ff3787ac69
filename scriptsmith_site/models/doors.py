"""How the doors to other systems did."""

from __future__ import annotations

from django.db import models


class Door(models.Model):
    """A way in or out that has no rows of its own: when it last worked, when it did not, and why."""

    name = models.CharField(max_length=40, unique=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name
