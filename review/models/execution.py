"""Models for sandbox tests in reviews: reviewers' changes to tests, and the reasons why results and scores differ."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models import CaseSet, Execution
from pipeline.models import Draft
from review.models.campaign import Campaign
from review.models.item import Case, Item


class CampaignCaseSet(models.Model):
    """A case set that a study uses for a case. Later case sets for the same statement do not replace it."""

    case = models.ForeignKey(Case, models.CASCADE, related_name="case_sets", db_index=False)
    case_set = models.ForeignKey(CaseSet, models.CASCADE, related_name="counted_for")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("test suite of a study")
        verbose_name_plural = _("test suites of studies")
        constraints = [
            models.UniqueConstraint(fields=["case", "case_set"], name="campaign_case_set_once")
        ]

    def __str__(self) -> str:
        return f"{self.case_id}: {self.case_set_id}"


class ImportedResult(models.Model):
    """A link from an imported result to its campaign. Other campaigns do not use the result."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="+", db_index=False)
    execution = models.ForeignKey(Execution, models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "execution"], name="imported_result_once_a_campaign"
            )
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.execution_id}"


class CaseRevision(models.Model):
    """A reviewer's removal, correction or addition of a sandbox test. Append-only.

    `case_set` is the set on the reviewer's page after the change. `merged` is the campaign's set after the change, in
    which it replaces `root`. `merged` contains the newest version of each corrected test and all added tests, but no
    removed tests. Either set is None if no tests are left.
    """

    class Kind(models.TextChoices):
        STRUCK = "struck", _("Removed")
        CORRECTED = "corrected", _("Edited")
        ADDED = "added", _("Added")

    item = models.ForeignKey(Item, models.CASCADE, related_name="case_revisions")
    root = models.ForeignKey(CaseSet, models.CASCADE, related_name="+")
    former = models.ForeignKey(CaseSet, models.CASCADE, related_name="+")
    case_set = models.ForeignKey(
        CaseSet, models.CASCADE, null=True, blank=True, related_name="revisions"
    )
    merged = models.ForeignKey(CaseSet, models.CASCADE, null=True, blank=True, related_name="+")
    kind = models.CharField(_("kind of change"), max_length=9, choices=Kind)
    what = models.TextField(_("test or check"))  # plain text
    reason = models.TextField(_("reason"))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    imported = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["struck", "corrected", "added"]),
                name="case_revision_kind_legal",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


class ExecutionLabel(models.Model):
    """A reviewer's reason why a score and the script's test results differ. Append-only.

    Each reviewer has one current row per item and stage.
    """

    class Stage(models.TextChoices):
        SCRIPT = "script", _("Script")
        REFINED = "refined", _("Refined")

    class Reason(models.TextChoices):
        CASE_WRONG = "case_wrong", _("Test is wrong")
        INTERPRETATION = "interpretation", _("Ambiguous request")
        TOO_STRICT = "output_too_strict", _("Output check too strict")
        UNLIKE_REALITY = "world_unlike_reality", _("Unrealistic scenario")
        SCRIPT_WRONG = "script_wrong", _("Script is wrong")

    item = models.ForeignKey(Item, models.CASCADE, related_name="execution_labels")
    stage = models.CharField(_("stage"), max_length=7, choices=Stage)
    draft = models.ForeignKey(Draft, models.PROTECT, null=True, blank=True, related_name="+")
    # Empty if the reviewer has removed the reason.
    reason = models.CharField(
        _("cause of the difference"), max_length=20, choices=Reason, blank=True
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    current = models.BooleanField(default=True)
    imported = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "by", "stage"],
                condition=Q(current=True),
                name="execution_label_one_current",
            ),
            models.CheckConstraint(
                condition=Q(stage__in=["script", "refined"]), name="execution_label_stage_legal"
            ),
            models.CheckConstraint(
                condition=Q(
                    reason__in=[
                        *("", "case_wrong", "interpretation", "output_too_strict"),
                        *("world_unlike_reality", "script_wrong"),
                    ]
                ),
                name="execution_label_reason_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} {self.stage}: {self.reason}"
