"""Models for append-only records of judgments: Score, Decision, Publication and Adjudication."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models import Version
from pipeline.models import Draft, Feedback
from pipeline.types import Arm
from review.models.assignment import Assignment
from review.models.campaign import Rubric
from review.models.item import Item

# OF_ANOTHER is the key in `visible` for Drafts that were refined with another expert's feedback. OTHERS is the name of
# the step that scores such a Draft.
OF_ANOTHER, OTHERS = "others_feedback", "others"


class Score(models.Model):
    """A reviewer's score of 0, 1 or 2 for one stage and arm of an Item, with the exact object that the reviewer saw.

    Values are never changed, and rows are never deleted. A later score by the same reviewer for the same stage and arm
    becomes the `current` score. A stage without a score has no row and never counts as 0.
    """

    class Stage(models.TextChoices):
        SCRIPT = "script", _("Script")
        FEEDBACK = "feedback", _("Feedback")
        REFINED = "refined", _("Refined script")

    class Value(models.IntegerChoices):
        INCORRECT = 0, _("Incorrect")
        PARTIAL = 1, _("Partially correct")
        CORRECT = 2, _("Correct")

    class View(models.TextChoices):
        PLAIN = "plain", _("Plain")
        DIFF = "diff", _("Diff")

    ARMS: ClassVar = [(arm.value, arm.label) for arm in Arm]

    item = models.ForeignKey(Item, models.CASCADE, related_name="scores", db_index=False)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="scores", db_index=False
    )
    stage = models.CharField(max_length=8, choices=Stage)
    arm = models.CharField(max_length=6, choices=ARMS, default=Arm.MODEL.value)
    value = models.PositiveSmallIntegerField(choices=Value)
    draft = models.ForeignKey(Draft, models.PROTECT, null=True, blank=True, related_name="scores")
    feedback = models.ForeignKey(
        Feedback, models.PROTECT, null=True, blank=True, related_name="scores"
    )
    assignment = models.ForeignKey(
        Assignment, models.SET_NULL, null=True, blank=True, related_name="scores"
    )
    current = models.BooleanField(default=True)
    # False if the reviewer had seen data of later stages or of other reviewers. The figures then use the reviewer's
    # previous blind score.
    blind = models.BooleanField(default=True)
    imported = models.BooleanField(default=False)
    comment = models.TextField(_("comment"), blank=True)
    at = models.DateTimeField(default=timezone.now)
    # False if the imported file contains no time. `at` is then the time of the import, and the score precedes all
    # scores with a time.
    timed = models.BooleanField(default=True, db_default=True)

    # The data that was visible to the reviewer, for the report of threats to validity.
    visible = models.JSONField(_("what was visible"), default=dict, blank=True)
    # Reviewers who gave the current scores of the earlier stages, as {"script": reviewer, ...}.
    earlier_by = models.JSONField(
        _("earlier stages scored by"),
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
    )
    view = models.CharField(max_length=5, choices=View, default=View.PLAIN)
    position = models.PositiveIntegerField(default=0)
    sitting_minutes = models.FloatField(null=True, blank=True)
    active_seconds = models.FloatField(null=True, blank=True)
    rubric = models.ForeignKey(Rubric, models.PROTECT, null=True, blank=True, related_name="+")
    # The time when the reviewer undid the score, which is then no longer current.
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            # One score for each text. The expert arm can contain refinements from multiple experts' feedback, and the
            # model arm can have multiple rounds.
            models.UniqueConstraint(
                fields=["item", "reviewer", "stage", "arm", "draft"],
                condition=Q(current=True, draft__isnull=False),
                name="score_one_current_of_draft",
            ),
            models.UniqueConstraint(
                fields=["item", "reviewer", "stage", "arm"],
                condition=Q(current=True, draft=None),
                name="score_one_current_without_draft",
            ),
            models.CheckConstraint(condition=Q(value__in=[0, 1, 2]), name="score_value_legal"),
            models.CheckConstraint(
                condition=Q(stage__in=["script", "feedback", "refined"]), name="score_stage_legal"
            ),
            models.CheckConstraint(
                condition=Q(arm__in=["model", "expert"]), name="score_arm_legal"
            ),
            models.CheckConstraint(
                condition=Q(view__in=["plain", "diff"]), name="score_view_legal"
            ),
            models.CheckConstraint(
                condition=~Q(stage="script") | Q(arm="model"), name="score_script_has_no_arm"
            ),
            # Imported scores may lack the scored text. Scores given here always reference the object that was scored.
            models.CheckConstraint(
                condition=Q(imported=True)
                | Q(stage="feedback", feedback__isnull=False, draft=None)
                | Q(stage__in=["script", "refined"], draft__isnull=False, feedback=None),
                name="score_names_what_was_seen",
            ),
        ]
        indexes = [
            models.Index(fields=["item", "reviewer"], name="score_of_item"),
            models.Index(fields=["reviewer", "-id"], name="score_of_reviewer"),
        ]

    def __str__(self) -> str:
        return f"{self.value} for {self.stage} of item {self.item_id}"

    @property
    def step_key(self) -> str:
        """Return the key of the scored step. A Draft refined with another expert's feedback has its own step."""
        return f"{self.stage}-{OTHERS if OF_ANOTHER in self.visible else self.arm}"


class Decision(models.Model):
    """A decision in the review queue to approve, edit and approve, or reject a specific Draft."""

    class Kind(models.TextChoices):
        APPROVE = "approve", _("Approved")
        EDIT = "edit", _("Edited and approved")
        REJECT = "reject", _("Rejected")

    item = models.ForeignKey(Item, models.PROTECT, related_name="decisions")
    draft = models.ForeignKey(Draft, models.PROTECT, related_name="decisions")
    draft_sha256 = models.CharField(max_length=64)
    kind = models.CharField(max_length=7, choices=Kind)
    edited = models.ForeignKey(Draft, models.PROTECT, null=True, blank=True, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="decisions")
    at = models.DateTimeField(default=timezone.now)
    reason = models.TextField(_("reason"), blank=True)
    # The state of the score form when the user decided: {"step": "script-model", "value": 0 or null, "comment": ""}.
    picked = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    # Keys of the scores that were saved with the decision. Undoing the decision also undoes these scores.
    scores = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["item"], condition=Q(undone_at=None), name="decision_one_an_item"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["approve", "edit", "reject"]), name="decision_kind_legal"
            ),
            models.CheckConstraint(
                condition=(Q(kind="edit") & Q(edited__isnull=False))
                | (~Q(kind="edit") & Q(edited=None)),
                name="decision_edit_has_draft",
            ),
            models.CheckConstraint(
                condition=~Q(kind="reject") | ~Q(reason=""), name="decision_reject_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of draft {self.draft_id}"


class Publication(models.Model):
    """The link from a Decision to the catalogue Version that it created."""

    decision = models.OneToOneField(Decision, models.PROTECT, related_name="publication")
    version = models.ForeignKey(Version, models.PROTECT, related_name="publications")
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Decision {self.decision_id} as version {self.version_id}"


class Adjudication(models.Model):
    """An adjudicator's final score for a stage on which reviewers differ, with the reason."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="adjudications")
    stage = models.CharField(max_length=8, choices=Score.Stage)
    arm = models.CharField(max_length=6, choices=Score.ARMS, default=Arm.MODEL.value)
    value = models.PositiveSmallIntegerField(choices=Score.Value)
    why = models.TextField(_("why"), blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    current = models.BooleanField(default=True)
    imported = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "stage", "arm"],
                condition=Q(current=True),
                name="adjudication_one_current",
            ),
            models.CheckConstraint(
                condition=Q(value__in=[0, 1, 2]), name="adjudication_value_legal"
            ),
            models.CheckConstraint(
                condition=Q(stage__in=["script", "feedback", "refined"]),
                name="adjudication_stage_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.value} for {self.stage} of item {self.item_id}"
