"""Uses, which record that a user copied a script, and the use's outcome."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models.entry import Version


class Use(models.Model):
    """A user's use of a Version, with the outcome that the user reports later."""

    class Outcome(models.TextChoices):
        WORKED = "worked", _("Worked")
        NO_EFFECT = "no_effect", _("No effect")
        WORSE = "worse", _("Made it worse")

    version = models.ForeignKey(Version, models.PROTECT, related_name="uses")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="uses")
    at = models.DateTimeField(default=timezone.now)
    values = models.JSONField(_("parameter values"), default=dict, blank=True)
    # Required (break-glass) if the version was not verified when the user copied it.
    reason = models.TextField(_("reason"), blank=True)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome, blank=True)
    outcome_at = models.DateTimeField(null=True, blank=True)
    incident = models.CharField(_("incident"), max_length=100, blank=True)
    note = models.TextField(_("note"), blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["", "worked", "no_effect", "worse"]),
                name="use_outcome_legal",
            ),
            models.CheckConstraint(
                condition=(Q(outcome="") & Q(outcome_at=None))
                | (~Q(outcome="") & Q(outcome_at__isnull=False)),
                name="use_outcome_when",
            ),
        ]
        indexes = [models.Index(fields=["version", "outcome"], name="use_by_version")]

    def __str__(self) -> str:
        return f"{self.version_id} by {self.by_id}"
