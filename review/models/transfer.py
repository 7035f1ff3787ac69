"""Models for imports and exports in the background: Transfer, and TransferLine for the report by line."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.leased_jobs import LeasedJob
from pipeline.models import Run
from review.models.campaign import Campaign


class Transfer(LeasedJob):
    """An import or export. The file is stored in the data folder under `path` until it expires.

    A worker resumes an interrupted transfer. Reading a row twice does not create a duplicate.
    """

    class Kind(models.TextChoices):
        ITEMS = "items", _("Item import")
        SCORES = "scores", _("Score import")
        EXPORT = "export", _("Export")

    TASK = "review.carry_out_transfer"
    QUEUE = Run.CAMPAIGN_QUEUE

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="transfers")
    kind = models.CharField(_("kind"), max_length=6, choices=Kind)
    filename = models.CharField(_("file"), max_length=255)
    path = models.CharField(max_length=500, blank=True)
    format = models.CharField(_("format"), max_length=20, blank=True)
    # Maps each expected column to its name in the file, as in `--map statement=query`.
    mapping = models.JSONField(_("columns"), default=dict, blank=True)
    options = models.JSONField(default=dict, blank=True)
    total_bytes = models.PositiveBigIntegerField(default=0)
    done_bytes = models.PositiveBigIntegerField(default=0)
    rows = models.PositiveBigIntegerField(default=0)
    kept = models.PositiveBigIntegerField(default=0)
    unchanged = models.PositiveBigIntegerField(default=0)
    refused = models.PositiveBigIntegerField(default=0)
    problem = models.TextField(blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta(LeasedJob.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["items", "scores", "export"]), name="transfer_kind_legal"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "running", "done", "failed", "cancelled"]),
                name="transfer_state_legal",
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_until"],
                name="transfer_unfinished",
                condition=Q(state__in=["waiting", "running"]),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.filename}"


class TransferLine(models.Model):
    """A line of a file that was rejected or was imported with a warning."""

    transfer = models.ForeignKey(Transfer, models.CASCADE, related_name="lines")
    line = models.PositiveBigIntegerField()
    external_id = models.CharField(max_length=200, blank=True)
    column = models.CharField(max_length=100, blank=True)
    reason = models.TextField()

    class Meta:
        ordering = ["line", "pk"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason[:60]}"
