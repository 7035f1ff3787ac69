"""Background jobs started by users, with progress and result."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.leased_jobs import LeasedJob


class Job(LeasedJob):
    """A background job of the catalogue."""

    class Kind(models.TextChoices):
        IMPORT = "import", _("Import")
        EXPORT = "export", _("Export")
        EMBED = "embed", _("New vectors")
        RECHECK = "recheck", _("Recheck")
        COMPARE = "compare", _("Search for near-duplicates")
        FIT = "fit", _("Scorer fit")

    TASK = "catalog.carry_out_job"

    kind = models.CharField(_("kind"), max_length=10, choices=Kind)
    arguments = models.JSONField(default=dict)
    # For imports and exports: the name of the file as shown to users, and its path in storage.
    filename = models.CharField(_("file"), max_length=255, blank=True)
    path = models.CharField(max_length=255, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)  # null: not known yet
    report = models.JSONField(_("report"), default=dict)
    trouble = models.TextField(_("problem"), blank=True)

    class Meta(LeasedJob.Meta):
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

    @property
    def progress(self) -> Mapping[str, object]:
        """Return the attributes of the progress component. The attributes are empty while the total is unknown."""
        return {"value": self.done if self.total else "", "max": self.total or ""}
