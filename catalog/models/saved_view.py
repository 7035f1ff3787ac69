"""Saved views of the list of entries."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class SavedView(models.Model):
    """Filters and order of the list of entries under a name, visible to its person only."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_catalogue_views"
    )
    name = models.CharField(_("name"), max_length=40)
    query = models.CharField(_("filters"), max_length=1500)  # as in the address, normalised
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="saved_view_once_a_name"),
            models.CheckConstraint(condition=~models.Q(name=""), name="saved_view_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
