"""Outcomes of scripts, reported by programs. Curators view the reports, which have no automatic effect."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models.entry import Version
from catalog.models.use import Use


class OutcomeReportQuerySet(models.QuerySet["OutcomeReport"]):
    def to_look_at(self) -> OutcomeReportQuerySet:
        """Return the reports of worse outcomes that no curator has viewed yet, newest first."""
        return (
            self.filter(outcome=Use.Outcome.WORSE, seen_at=None)
            .select_related("version__entry", "by")
            .defer("version__entry__document")
            .order_by("-pk")
        )


class OutcomeReport(models.Model):
    """The outcome of a script's run, reported by a program with a token.

    Reports from users are stored in `Use`. A program's report neither changes rankings nor suspends entries.
    """

    version = models.ForeignKey(Version, models.PROTECT, related_name="outcome_reports")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    token = models.CharField(_("token"), max_length=80)
    at = models.DateTimeField(default=timezone.now, editable=False)
    outcome = models.CharField(_("outcome"), max_length=10, choices=Use.Outcome)
    incident = models.CharField(_("incident"), max_length=100, blank=True)
    note = models.TextField(_("note"), blank=True)
    seen_at = models.DateTimeField(null=True, blank=True, editable=False)
    seen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    objects = OutcomeReportQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["worked", "no_effect", "worse"]),
                name="outcome_report_outcome_legal",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(outcome="worse", seen_at=None),
                name="outcome_report_to_look_at",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} of {self.version_id}"
