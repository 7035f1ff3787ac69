"""Models for a campaign's figures and their view log: Tally, TallyDue, ReportPart, ReportSnapshot and ReportLook."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from pipeline.models import Configuration
from review.models.campaign import Campaign
from review.models.item import Item


class Tally(models.Model):
    """The number of items or statements with the same pattern, for one campaign and Configuration.

    Only `review.counting.tallies` writes this table, with one writer at a time per campaign. The counts always equal a
    recount of all items, except for items that are due.
    """

    class Kind(models.TextChoices):
        ITEM = "item", _("Items by their contributions to the figures")
        VALUES = "values", _("Statements by the values given at a stage")
        PAIR = "pair", _("Statements by the scores of two reviewers at a stage")
        JOINT = "joint", _("Statements by the contributions of two arms")
        CLUSTER = "clust", _("Statements by the contributions of several items")
        LEANING = "lean", _("Statements by a reviewer's leniency")
        READING = "read", _("Items by their contributions under another scoring rule")
        SUM = "sum", _("Sums over items")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="tallies")
    configuration = models.ForeignKey(Configuration, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=6, choices=Kind)
    pattern = models.TextField()
    count = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "tallies"
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "configuration", "kind", "pattern"], name="tally_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.count} x {self.pattern}"


class TallyDue(models.Model):
    """An item whose scores have changed since the last count. Recounting the item deletes the row.

    Each change only appends a row, so reviewers don't wait for each other's locks. An import adds a single row for a
    range of items, with primary keys from `first` to `last`.
    """

    item = models.ForeignKey(Item, models.CASCADE, related_name="+", null=True, blank=True)
    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="+")
    first = models.BigIntegerField(null=True, blank=True)
    last = models.BigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "tallies due"
        constraints = [
            models.CheckConstraint(
                condition=Q(item__isnull=False, first=None, last=None)
                | Q(item=None, first__isnull=False, last__isnull=False),
                name="tally_due_item_or_span",
            )
        ]

    def __str__(self) -> str:
        return f"item {self.item_id}" if self.item_id else f"items {self.first} to {self.last}"


class ReportPart(models.Model):
    """A part of a large study's report that takes seconds to compute. A worker updates it when its data changes."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="report_parts")
    name = models.CharField(max_length=12)
    state = models.TextField()  # identifies the state of the input data
    at = models.DateTimeField()
    seconds = models.FloatField()  # computing time
    data = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="report_part_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M}"


class ReportSnapshot(models.Model):
    """A saved copy of a report. Later scores do not change the copy."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="snapshots")
    name = models.CharField(_("name"), max_length=150)
    data = models.JSONField()
    sha256 = models.CharField(max_length=64)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="snapshot_has_name")]

    def __str__(self) -> str:
        return self.name


class ReportLook(models.Model):
    """A user's view of a study's figures. The report lists all views, because they are a threat to validity."""

    class What(models.TextChoices):
        REPORT = "report", _("the report")
        THREATS = "threats", _("threats to validity")
        PAIRS = "pairs", _("pairs of reviewers")
        ITEMS = "items", _("items behind a figure")
        SNAPSHOT = "snapshot", _("a snapshot")
        EXPORT = "export", _("an export")

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="looks")
    # None for views from the command line.
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)
    # Number of items with a final script score at that time.
    scored = models.PositiveIntegerField(default=0)
    what = models.CharField(
        max_length=8, choices=What, default=What.REPORT.value, db_default=What.REPORT.value
    )
    # The campaign's state at that time. Empty in older rows, for which the campaign was not closed.
    state = models.CharField(
        max_length=6, choices=Campaign.State, blank=True, default="", db_default=""
    )

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.by_id or 'command line'} at {self.at:%Y-%m-%d %H:%M}"
