"""The Exposure model, which records users who saw a verdict, or data that reveals it, outside of a review."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from pipeline.models import Run
from review.models.campaign import Campaign


class Exposure(models.Model):
    """A user's first view of the verdict of a run, or of the verdicts of a campaign. Append-only.

    Verdicts that the review page shows after scoring are not recorded. A request to see the verdict before scoring is a
    Reveal.
    """

    class What(models.TextChoices):
        # The verdict, or data that reveals the verdict, such as feedback, refined scripts, times and costs.
        RUN = "run", _("A run with its verdict")
        ITEMS = "items", _("A list of items filtered by verdict")
        FILE = "file", _("An export")

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", db_index=False
    )
    run = models.ForeignKey(
        Run, models.CASCADE, null=True, blank=True, related_name="exposures", db_index=False
    )
    campaign = models.ForeignKey(
        Campaign, models.CASCADE, null=True, blank=True, related_name="exposures", db_index=False
    )
    what = models.CharField(max_length=5, choices=What)
    # The name of the page or API operation.
    where = models.CharField(max_length=100)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "person"], condition=Q(run__isnull=False), name="exposure_once_a_run"
            ),
            models.UniqueConstraint(
                fields=["campaign", "person"],
                condition=Q(campaign__isnull=False),
                name="exposure_once_a_campaign",
            ),
            models.CheckConstraint(
                condition=Q(run__isnull=False, campaign=None) | Q(run=None, campaign__isnull=False),
                name="exposure_of_one_thing",
            ),
            models.CheckConstraint(
                condition=Q(what__in=["run", "items", "file"]), name="exposure_what_legal"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person_id} saw {self.what} of {self.run_id or self.campaign_id}"
