"""What people say about retrieval, and the threshold chosen from it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models.entry import Version


class MatchLabel(models.Model):
    """A person's word on one retrieved version: the answer, a starting point, or neither; append-only."""

    class Label(models.TextChoices):
        MATCH = "match", _("Match")
        ADAPT = "adapt", _("Adapt")
        NO_MATCH = "no_match", _("No match")

    statement = models.TextField(_("statement"))
    version = models.ForeignKey(Version, models.CASCADE, related_name="labels")
    label = models.CharField(_("label"), max_length=8, choices=Label)
    confidence = models.FloatField(_("confidence shown"), null=True, blank=True)
    scoring = models.CharField(_("scoring"), max_length=40, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(label__in=["match", "adapt", "no_match"]), name="match_label_legal"
            )
        ]
        permissions = [("label_matches", _("Can label matches for calibration"))]

    def __str__(self) -> str:
        return f"{self.label}: {self.statement[:60]}"


class Threshold(models.Model):
    """The confidence from which an entry is shown as the answer; the newest counts, older ones are kept."""

    scoring = models.CharField(_("scoring"), max_length=40)
    match = models.FloatField(_("match from"))
    adapt = models.FloatField(_("adapt from"))
    wanted_precision = models.FloatField(_("wanted precision"), null=True, blank=True)
    labels = models.PositiveIntegerField(_("labels it was chosen from"), default=0)
    why = models.TextField(_("why"), blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(match__gte=0, match__lte=1, adapt__gte=0, adapt__lte=1),
                name="threshold_in_range",
            )
        ]
        permissions = [("set_threshold", _("Can set the threshold of retrieval"))]

    def __str__(self) -> str:
        return f"{self.scoring}: match from {self.match:.2f}"
