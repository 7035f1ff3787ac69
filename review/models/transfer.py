"""Transfer: a file on its way in or out, in the background, with its report by line."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.models.campaign import Campaign


class Transfer(models.Model):
    """One import or export. The file lies in the data folder under `path` until it expires.

    A worker holds it by owner, fence and lease, as a Run: killed in the middle, it is taken up again,
    and since every row is safe to read twice nothing is doubled.
    """

    class Kind(models.TextChoices):
        ITEMS = "items", _("Items in")
        SCORES = "scores", _("Scores in")
        EXPORT = "export", _("Export")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="transfers")
    kind = models.CharField(_("kind"), max_length=6, choices=Kind)
    state = models.CharField(_("state"), max_length=9, choices=State, default=State.WAITING)
    filename = models.CharField(_("file"), max_length=255)
    path = models.CharField(max_length=500, blank=True)
    format = models.CharField(_("format"), max_length=20, blank=True)
    # Wanted column to the file's own name for it, as in `--map statement=query`.
    mapping = models.JSONField(_("columns"), default=dict, blank=True)
    options = models.JSONField(default=dict, blank=True)
    total_bytes = models.PositiveBigIntegerField(default=0)
    done_bytes = models.PositiveBigIntegerField(default=0)
    rows = models.PositiveBigIntegerField(default=0)
    kept = models.PositiveBigIntegerField(default=0)
    unchanged = models.PositiveBigIntegerField(default=0)
    refused = models.PositiveBigIntegerField(default=0)
    problem = models.TextField(blank=True)
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="transfers"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=100, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
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

    @property
    def is_active(self) -> bool:
        return self.state in (Transfer.State.WAITING, Transfer.State.RUNNING)


class TransferLine(models.Model):
    """What was refused, or kept with a remark, at one line of a file."""

    transfer = models.ForeignKey(Transfer, models.CASCADE, related_name="lines")
    line = models.PositiveBigIntegerField()
    external_id = models.CharField(max_length=200, blank=True)
    column = models.CharField(max_length=100, blank=True)
    reason = models.TextField()

    class Meta:
        ordering = ["line", "pk"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason[:60]}"
