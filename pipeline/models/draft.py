"""Draft, Assessment, Feedback, Refinement: the scripts of a Run, their verdicts and the feedback on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q, Value
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.analysis import Level, Outcome
from catalog.models import Version
from core.database.indexes import index_where_set
from pipeline.models.run import Run
from pipeline.types import Arm, DraftKind, Verdict, distinct


class Draft(models.Model):
    """An immutable script of a Run."""

    KINDS: ClassVar = [(kind.value, kind.label) for kind in DraftKind]
    ARMS: ClassVar = [(arm.value, arm.label) for arm in Arm]

    # No separate index if a longer index begins with this column, because each index slows inserts.
    run = models.ForeignKey(Run, models.CASCADE, related_name="drafts", db_index=False)
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=KINDS)
    script = models.TextField()
    sha256 = models.CharField(max_length=64, editable=False)
    round = models.PositiveSmallIntegerField(default=0)
    arm = models.CharField(max_length=6, choices=ARMS, default=Arm.MODEL.value)
    parent = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="children", db_index=False
    )
    feedback = models.ForeignKey(
        "pipeline.Feedback",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="drafts",
        db_index=False,
    )
    # Set if the draft was created on demand, after the run had finished.
    refinement = models.ForeignKey(
        "pipeline.Refinement",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="drafts",
        db_index=False,
    )
    version = models.ForeignKey(
        Version, models.PROTECT, null=True, blank=True, related_name="drafts", db_index=False
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="drafts",
        db_index=False,
    )
    model = models.CharField(max_length=100, blank=True)
    prompt_version = models.CharField(max_length=12, blank=True)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["number"]
        indexes = [
            index_where_set(one, name=f"draft_{one}")
            for one in ("parent", "feedback", "refinement", "version", "author")
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="draft_number_once_a_run"),
            models.CheckConstraint(condition=Q(number__gte=1), name="draft_number_from_one"),
            # A resumed run finds its draft instead of creating another draft.
            models.UniqueConstraint(
                fields=["run", "kind", "round", "refinement"],
                condition=~Q(kind__in=["edited", "imported"]),
                name="draft_once_a_step",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(
                    kind__in=[
                        "retrieved",
                        "generated",
                        "repaired",
                        "refined",
                        "revised",
                        "edited",
                        "imported",
                    ]
                ),
                name="draft_kind_legal",
            ),
            models.CheckConstraint(
                condition=Q(arm__in=["model", "expert"]), name="draft_arm_legal"
            ),
            models.CheckConstraint(
                condition=~Q(kind="retrieved") | Q(version__isnull=False),
                name="draft_retrieved_from_version",
            ),
            models.CheckConstraint(
                condition=~Q(kind="edited") | Q(author__isnull=False, parent__isnull=False),
                name="draft_edited_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(kind="refined") | Q(feedback__isnull=False, parent__isnull=False),
                name="draft_refined_from_feedback",
            ),
        ]

    def __str__(self) -> str:
        return f"Draft {self.number} of run {self.run_id}"


class _DistinctTexts(models.JSONField):
    """A list of texts, read without the duplicates that an earlier release stored."""

    def from_db_value(self, *stored: Any) -> object:
        read = super().from_db_value(*stored)
        return distinct(read) if isinstance(read, list) else read

    def deconstruct(self) -> tuple[str, str, Sequence[Any], dict[str, Any]]:
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.JSONField", args, options


class Assessment(models.Model):
    """The verdict on a Draft, with its evidence. The Draft was not executed for the verdict."""

    VERDICTS: ClassVar = [(verdict.value, verdict.label) for verdict in Verdict]

    draft = models.OneToOneField(Draft, models.CASCADE, related_name="assessment")
    script_sha256 = models.CharField(max_length=64)
    verdict = models.CharField(max_length=10, choices=VERDICTS)
    # The cause of an unknown verdict, such as refused, truncated or unparsed.
    why = models.CharField(max_length=20, blank=True)
    syntax_ok = models.BooleanField(null=True)
    functionality = models.TextField(blank=True)
    similarity = models.CharField(max_length=10, blank=True)
    similarity_reason = models.TextField(blank=True)
    difference = models.CharField(max_length=10, blank=True)
    difference_reason = models.TextField(blank=True)
    differences = _DistinctTexts(default=list)
    model = models.CharField(max_length=100, blank=True)
    prompt_versions = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict__in=["correct", "incorrect", "unknown"]),
                name="assessment_verdict_legal",
            ),
            models.CheckConstraint(
                condition=Q(similarity__in=["", "match", "mismatch", "unknown"])
                & Q(difference__in=["", "match", "mismatch", "unknown"]),
                name="assessment_parts_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} for draft {self.draft_id}"


class DraftFinding(models.Model):
    """A check's finding in a Draft. It is valid only while the script's hash and the check's version match."""

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="findings")
    script_sha256 = models.CharField(max_length=64)
    check_name = models.CharField(max_length=40)
    check_version = models.CharField(max_length=40)
    outcome = models.CharField(max_length=10)
    level = models.CharField(max_length=10)
    code = models.CharField(max_length=40, blank=True)
    message = models.TextField()
    line = models.PositiveIntegerField(null=True)
    column = models.PositiveIntegerField(null=True)
    end_line = models.PositiveIntegerField(null=True)
    end_column = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["line", "column", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=[outcome.value for outcome in Outcome]),
                name="draft_finding_outcome_legal",
            ),
            models.CheckConstraint(
                condition=Q(level__in=[level.value for level in Level]),
                name="draft_finding_level_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code}: {self.message[:60]}"


class Feedback(models.Model):
    """A brief explanation of why a Draft fails, written by a model or an expert."""

    ARMS: ClassVar = [(arm.value, arm.label) for arm in Arm]

    draft = models.ForeignKey(Draft, models.CASCADE, related_name="feedbacks")
    arm = models.CharField(max_length=6, choices=ARMS, default=Arm.MODEL.value)
    round = models.PositiveSmallIntegerField(default=1)
    text = models.TextField()
    no_error_found = models.BooleanField(default=False)
    based_on = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="edits"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="feedbacks"
    )
    model = models.CharField(max_length=100, blank=True)
    prompt_version = models.CharField(max_length=12, blank=True)
    words = models.PositiveIntegerField(default=0)
    points = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "feedback"
        constraints = [
            models.UniqueConstraint(
                fields=["draft"], condition=Q(arm="model"), name="feedback_one_by_the_model_a_draft"
            ),
            models.CheckConstraint(
                condition=Q(arm__in=["model", "expert"]), name="feedback_arm_legal"
            ),
            models.CheckConstraint(
                condition=Q(arm="model") | Q(author__isnull=False),
                name="feedback_expert_has_author",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class Refinement(models.Model):
    """A rewrite of a Draft, requested after its Run had finished. It uses given feedback or the model's explanation."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    run = models.ForeignKey(Run, models.CASCADE, related_name="refinements")
    draft = models.ForeignKey(Draft, models.CASCADE, related_name="refinements")
    # If null, the model explains the errors first (arm *model*). Otherwise, this is an expert's text (arm *expert*).
    feedback = models.OneToOneField(
        Feedback, models.PROTECT, null=True, blank=True, related_name="refinement"
    )
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    problem = models.TextField(blank=True)
    # Hashes of secrets in the feedback that the author chose to send.
    sent_secrets = models.JSONField(
        default=list, editable=False, db_default=Value([], models.JSONField())
    )
    # Null if a campaign requested the refinement to prepare its items.
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["draft"],
                condition=Q(feedback=None) & ~Q(state="failed"),
                name="refinement_one_by_the_model_a_draft",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "done", "failed"]), name="refinement_state_legal"
            ),
        ]

    def __str__(self) -> str:
        return f"Refinement of draft {self.draft_id}"


class DraftUse(models.Model):
    """A use of an unverified script, with the user's reason (break-glass)."""

    draft = models.ForeignKey(Draft, models.PROTECT, related_name="uses")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="draft_uses")
    at = models.DateTimeField(default=timezone.now)
    reason = models.TextField(_("reason"))
    outcome = models.CharField(_("outcome"), max_length=10, blank=True)
    outcome_at = models.DateTimeField(null=True, blank=True)
    incident = models.CharField(_("incident"), max_length=100, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="draft_use_has_reason"),
            models.CheckConstraint(
                condition=Q(outcome__in=["", "worked", "no_effect", "worse"]),
                name="draft_use_outcome_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.draft_id} by {self.by_id}"
