"""Saved views of long lists, including other apps' lists."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class SavedView(models.Model):
    """A user's named filters and sort order of a list. Only that user can see the view."""

    class Listing(models.TextChoices):
        """The lists that support saved views, by URL name."""

        CATALOGUE = "catalog-list", _("Catalogue")
        ACTIONS = "action-list", _("Requests")
        QUEUE = "queue", _("Review queue")
        CAMPAIGNS = "campaign-list", _("Studies")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views")
    listing = models.CharField(
        _("list"),
        max_length=20,
        choices=Listing,
        default=Listing.CATALOGUE,
        db_default=Listing.CATALOGUE.value,
    )
    name = models.CharField(_("name"), max_length=40)
    query = models.CharField(_("filters"), max_length=1500)  # as in the URL, normalized
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "listing", "name"], name="saved_view_once_a_list"
            ),
            models.CheckConstraint(condition=~models.Q(name=""), name="saved_view_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name
