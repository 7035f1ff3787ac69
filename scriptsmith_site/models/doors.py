"""Health of the integrations with other systems."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Door(models.Model):
    """The last success and the last error of an integration that has no model of its own."""

    name = models.CharField(max_length=40, unique=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("integration")
        verbose_name_plural = _("integrations")

    def __str__(self) -> str:
        return self.name
