"""Work in the background that somebody waits for: how far it is, and what came of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Job(models.Model):
    """One piece of background work; a worker holds it by owner, fence and lease, as it holds a Run."""

    class Kind(models.TextChoices):
        IMPORT = "import", _("Import")
        EXPORT = "export", _("Export")
        EMBED = "embed", _("New vectors")
        RECHECK = "recheck", _("Checked again")
        COMPARE = "compare", _("Search for near-duplicates")
        FIT = "fit", _("Fit of the scoring")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    kind = models.CharField(_("kind"), max_length=10, choices=Kind)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.WAITING)
    arguments = models.JSONField(default=dict)
    # Of imports and exports: what people call the file, and what it is called where it is kept.
    filename = models.CharField(_("file"), max_length=255, blank=True)
    path = models.CharField(max_length=255, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)  # empty: not known yet
    report = models.JSONField(_("report"), default=dict)
    trouble = models.TextField(_("what went wrong"), blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=100, blank=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "cancelled"]),
                name="job_state_legal",
            )
        ]
        indexes = [
            models.Index(
                fields=["id"], condition=Q(state__in=["waiting", "running"]), name="job_unfinished"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
