"""Batch, Run, Stage: an Action sent through the pipeline, step by step."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models import Version
from core.database.indexes import index_where_set
from pipeline.models.action import Action
from pipeline.models.configuration import Configuration, Endpoint
from pipeline.types import Role, SecretsChoice, Verdict


class Batch(models.Model):
    """A set of Runs with a priority, a budget in micro-dollars and a pause switch."""

    name = models.CharField(_("name"), max_length=200)
    priority = models.SmallIntegerField(_("priority"), default=0)
    budget = models.PositiveBigIntegerField(_("budget"), null=True, blank=True)
    paused_at = models.DateTimeField(_("paused"), null=True, blank=True)
    paused_why = models.CharField(_("reason for the pause"), max_length=300, blank=True)
    # If true, requests to endpoints with Message Batches are sent in batches, at half the price and with answers within
    # a day.
    uses_message_batches = models.BooleanField(default=False, db_default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "batches"
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class RunQuerySet(models.QuerySet["Run"]):
    def unfinished(self) -> RunQuerySet:
        return self.filter(state__in=[Run.State.QUEUED, Run.State.RUNNING])

    def abandoned(self) -> RunQuerySet:
        """Return unfinished runs that have no worker, no later start time and no paused batch."""
        # Use the database's clock, which wrote the leases. Workers' clocks may differ.
        return (
            self.unfinished()
            .filter(Q(lease_until=None) | Q(lease_until__lt=Now()))
            .filter(Q(not_before=None) | Q(not_before__lte=Now()))
            .filter(Q(batch=None) | Q(batch__paused_at=None))
        )

    def in_turn(self) -> RunQuerySet:
        """Order users' runs before campaigns, then by the batch's priority, then oldest first."""
        return self.order_by(F("batch__priority").desc(nulls_first=True), "pk")


class Run(models.Model):
    """One passage of an Action through the pipeline, with one Configuration.

    `lease_until`, `owner` and `fence` identify the worker that has claimed the Run. Every claim increments the fence,
    and a worker can write only while the fence is unchanged. `finished_at` is set when the Run finishes for the first
    time. A later Refinement restarts the Run without clearing `finished_at`.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Canceled")

    class Origin(models.TextChoices):
        ASKED = "asked", _("User")
        CAMPAIGN = "campaign", _("Study")
        COMMAND = "command", _("Command line")
        DEMO = "demo", _("Demo")
        IMPORTED = "imported", _("Imported")

    # The workers' queues. Users wait for runs in the first queue, but not for runs in the second.
    QUEUE, CAMPAIGN_QUEUE = "interactive", "campaign"
    VERDICTS: ClassVar = [(verdict.value, verdict.label) for verdict in Verdict]

    action = models.ForeignKey(Action, models.PROTECT, related_name="runs")
    configuration = models.ForeignKey(Configuration, models.PROTECT, related_name="runs")
    batch = models.ForeignKey(
        Batch, models.PROTECT, null=True, blank=True, related_name="runs", db_index=False
    )
    # The run whose catalogue answer the requester rejected.
    follows = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="followed_by", db_index=False
    )
    origin = models.CharField(_("origin"), max_length=10, choices=Origin, default=Origin.ASKED)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.QUEUED)
    # The Configuration at the time the run was created: roles, rounds, prompt versions.
    spec = models.JSONField(default=dict)
    demo = models.BooleanField(_("made with the demo model"), default=False)
    uses_retrieval = models.BooleanField(_("searches the catalogue first"), default=True)
    # The handling of secrets in calls that leave this machine. They are masked unless the requester chose to send them.
    secrets = models.CharField(
        _("secrets in text"),
        max_length=4,
        choices=[(choice.value, choice.label) for choice in SecretsChoice],
        default=SecretsChoice.MASK.value,
        db_default=SecretsChoice.MASK.value,
    )
    # Hashes of the secrets that were shown to the user who chose to send them. All other secrets
    # are masked (`outgoing_secrets`).
    sent_secrets = models.JSONField(
        default=list, editable=False, db_default=Value([], models.JSONField())
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="runs"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)

    # The result. The verdict is always the verdict of the first assessment.
    verdict = models.CharField(_("verdict"), max_length=10, choices=VERDICTS, blank=True)
    answered_by = models.ForeignKey(
        Version, models.PROTECT, null=True, blank=True, related_name="answered_runs", db_index=False
    )
    # The assessor's model, if it confirmed the catalogue's answer. Empty for a match by score alone.
    match_confirmed_by = models.CharField(
        _("match confirmed by"), max_length=100, blank=True, default="", db_default=""
    )
    recommended = models.ForeignKey(
        "pipeline.Draft", models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    problem = models.TextField(_("problem"), blank=True)

    owner = models.CharField(max_length=100, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    # The endpoint that the run is waiting for, because the endpoint had no free slot or was paused.
    waits_for = models.ForeignKey(
        Endpoint,
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        db_index=False,
        related_name="waiting_runs",
    )
    # When the run was last sent to the workers, or None once a worker has claimed it.
    told_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Consecutive crashes without a finished call. At the limit, the run fails.
    crashes = models.PositiveSmallIntegerField(default=0)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "done", "failed", "cancelled"]),
                name="run_state_legal",
            ),
            models.CheckConstraint(
                condition=Q(origin__in=["asked", "campaign", "command", "demo", "imported"]),
                name="run_origin_legal",
            ),
            models.CheckConstraint(
                condition=Q(verdict__in=["", "correct", "incorrect", "unknown"]),
                name="run_verdict_legal",
            ),
            models.CheckConstraint(
                condition=Q(secrets__in=["mask", "send"]), name="run_secrets_legal"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["done", "failed"]) | Q(finished_at__isnull=False),
                name="run_finished_when",
            ),
            models.CheckConstraint(
                condition=Q(follows=None) | ~Q(follows=F("pk")), name="run_not_following_itself"
            ),
        ]
        indexes = [
            *(
                index_where_set(one, name=f"run_{one}")
                for one in ("batch", "follows", "answered_by", "recommended")
            ),
            models.Index(
                fields=["not_before", "lease_until"],
                name="run_unfinished",
                condition=Q(state__in=["queued", "running"]),
            ),
            models.Index(fields=["-finished_at"], name="run_newest_finished"),
            # Few runs fail, and dashboards list them.
            models.Index(fields=["id"], name="run_failed", condition=Q(state="failed")),
            index_where_set("waits_for", name="run_waiting"),
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    @staticmethod
    def queue_of(batch_id: int | None) -> str:
        """Return the queue of a run. Campaigns have their own queue, because users wait for runs without a batch."""
        return Run.QUEUE if batch_id is None else Run.CAMPAIGN_QUEUE

    @property
    def is_active(self) -> bool:
        return self.state in (Run.State.QUEUED, Run.State.RUNNING)

    @property
    def roles(self) -> dict[str, dict[str, Any]]:
        """Return the models of the roles from the snapshot. The result is empty for an imported run.

        The case author is stored separately, because workers of the previous release do not know this role.
        """
        roles = dict(self.spec.get("roles") or {})
        author = self.spec.get(Role.CASE_AUTHOR.value)
        return {**roles, Role.CASE_AUTHOR.value: author} if author else roles


class Stage(models.Model):
    """A stage of a Run, with the outcome, duration and findings for the run's page."""

    class State(models.TextChoices):
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        SKIPPED = "skipped", _("Skipped")

    run = models.ForeignKey(Run, models.CASCADE, related_name="stages")
    sequence = models.PositiveIntegerField()
    name = models.CharField(max_length=12)
    round = models.PositiveSmallIntegerField(default=0)
    refinement = models.ForeignKey(
        "pipeline.Refinement", models.CASCADE, null=True, blank=True, related_name="stages"
    )
    state = models.CharField(max_length=8, choices=State, default=State.RUNNING)
    outcome = models.CharField(max_length=20, blank=True)
    found = models.TextField(blank=True)
    draft = models.ForeignKey(
        "pipeline.Draft", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    milliseconds = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["sequence"]
        constraints = [
            models.UniqueConstraint(fields=["run", "sequence"], name="stage_sequence_once_a_run"),
            models.UniqueConstraint(
                fields=["run", "name", "round", "refinement"],
                name="stage_once_a_step",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(state__in=["running", "done", "failed", "skipped"]),
                name="stage_state_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of run {self.run_id}"


class RetrievedMatchQuerySet(models.QuerySet["RetrievedMatch"]):
    def answers(self) -> RetrievedMatchQuerySet:
        """Return the matches that users see: the answer and starting points, but not examples."""
        return self.exclude(answer="none")


class RetrievedMatch(models.Model):
    """A catalogue entry found for a Run's statement, stored so that a resumed run gets the same result.

    Neighbors that do not answer the statement are also stored, as *none*, and serve as examples.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="matches")
    rank = models.PositiveSmallIntegerField()
    version = models.ForeignKey(Version, models.PROTECT, related_name="+")
    phrasing = models.TextField()
    answer = models.CharField(max_length=6)
    confidence = models.FloatField()
    cosine = models.FloatField()
    scoring = models.CharField(max_length=40)
    reasons = models.JSONField(default=list)
    differs = models.JSONField(default=list)
    fills = models.JSONField(default=dict)
    # True if an uncertain score is the only problem of the match, so that the assessor may confirm it.
    confirmable = models.BooleanField(default=False, db_default=False)

    objects = RetrievedMatchQuerySet.as_manager()

    class Meta:
        verbose_name_plural = _("retrieved matches")
        ordering = ["rank"]
        constraints = [
            models.UniqueConstraint(fields=["run", "rank"], name="retrieved_match_rank_once_a_run"),
            models.CheckConstraint(
                condition=Q(answer__in=["match", "adapt", "none"]),
                name="retrieved_match_answer_legal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rank} of run {self.run_id}"
