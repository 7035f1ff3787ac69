"""The ledger: each question to a model and every attempt to get an answer. A finished call is never repeated."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q, Value
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.database.indexes import index_where_set
from pipeline.models.configuration import Endpoint
from pipeline.models.message_batch import MessageBatch
from pipeline.models.run import Run
from pipeline.types import ReadingOutcome


class ModelCall(models.Model):
    """A question to a model. `key` is a hash of the run, stage, round, sample, endpoint and request.

    The position (run, stage, round, sample, refinement) is also unique, so that a finished question is not repeated if
    a prompt file changes during the run.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    OUTCOMES: ClassVar = [(outcome.value, outcome.value) for outcome in ReadingOutcome]

    key = models.CharField(max_length=64, primary_key=True)
    run = models.ForeignKey(Run, models.CASCADE, related_name="calls")
    refinement = models.ForeignKey(
        "pipeline.Refinement", models.CASCADE, null=True, blank=True, related_name="calls"
    )
    stage = models.CharField(max_length=12)
    round = models.PositiveSmallIntegerField(default=0)
    # 0 is the question itself, and 1 is the single retry after an unreadable or truncated reply.
    sample = models.PositiveSmallIntegerField(default=0)
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="calls")
    model = models.CharField(max_length=100)
    prompt = models.CharField(max_length=40)
    prompt_version = models.CharField(max_length=12)
    request = models.JSONField()  # as sent, with secrets masked
    # The kinds of secrets that were masked in the request, in order of appearance.
    masked = models.JSONField(default=list, db_default=Value([], models.JSONField()))
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    # If true, an open call is sent in a Message Batch and not by its run's worker.
    in_batches = models.BooleanField(default=False, db_default=False)
    fence = models.PositiveBigIntegerField(default=0)
    reply = models.JSONField(null=True)
    outcome = models.CharField(max_length=10, choices=OUTCOMES, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "stage", "round", "sample", "refinement"],
                name="model_call_position_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "done", "failed"]), name="model_call_state_legal"
            ),
            models.CheckConstraint(
                condition=~Q(state="done") | Q(reply__isnull=False),
                name="model_call_done_has_reply",
            ),
        ]
        indexes = [
            # For counting the uses of a prompt version.
            models.Index(fields=["prompt", "prompt_version"], name="model_call_of_prompt"),
            models.Index(
                fields=["endpoint"],
                name="model_call_in_batches",
                condition=Q(in_batches=True, state="open"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} of run {self.run_id}"


class Attempt(models.Model):
    """An attempt at a ModelCall. Its result is written once and never changed."""

    class Outcome(models.TextChoices):
        ANSWERED = "answered", _("Answered")
        BUSY = "busy", _("Server busy")
        LIMIT = "limit", _("Spend limit")
        REFUSED = "refused", _("Request refused")
        BROKEN = "broken", _("Broken reply")
        TIMEOUT = "timeout", _("Timed out")
        UNREACHABLE = "unreachable", _("Unreachable")
        ORPHANED = "orphaned", _("Worker lost")
        EXPIRED = "expired", _("Batch expired")
        CANCELLED = "cancelled", _("Canceled")

    call = models.ForeignKey(ModelCall, models.CASCADE, related_name="attempts")
    # The endpoint at which the attempt occupies a slot (`place`) until it ends, assigned by `admission`. The column has
    # no foreign key constraint, which would lock the endpoint's row for each call. The call refers to the endpoint
    # anyway.
    endpoint = models.ForeignKey(
        Endpoint,
        models.DO_NOTHING,
        null=True,
        editable=False,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    place = models.PositiveSmallIntegerField(null=True, editable=False)
    # The Message Batch of the attempt. Such an attempt occupies no slot and costs half.
    message_batch = models.ForeignKey(
        MessageBatch,
        models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        db_index=False,
        related_name="attempts",
    )
    number = models.PositiveSmallIntegerField()
    fence = models.PositiveBigIntegerField()
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=12, choices=Outcome, blank=True)
    http_status = models.PositiveSmallIntegerField(null=True, blank=True)
    error_type = models.CharField(max_length=60, blank=True)
    message = models.TextField(blank=True)
    request_id = models.CharField(max_length=100, blank=True)
    # True if the server may have processed the call although no reply arrived. Shown as "possibly billed twice".
    possibly_billed = models.BooleanField(default=False)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cache_read_tokens = models.PositiveIntegerField(default=0)
    cache_write_tokens = models.PositiveIntegerField(default=0)
    thinking_tokens = models.PositiveIntegerField(default=0)
    # In micro-dollars. Null if no price is known.
    cost = models.PositiveBigIntegerField(null=True, blank=True)
    price_since = models.DateField(null=True, blank=True)
    raw = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="attempt_number_once_a_call"),
            models.UniqueConstraint(
                fields=["endpoint", "place"],
                condition=Q(ended_at=None, place__isnull=False),
                name="attempt_place_held_once",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, outcome="") | Q(ended_at__isnull=False) & ~Q(outcome=""),
                name="attempt_ends_with_outcome",
            ),
        ]
        indexes = [
            models.Index(fields=["ended_at"], name="attempt_open", condition=Q(ended_at=None)),
            index_where_set("message_batch", name="attempt_of_message_batch"),
        ]

    def __str__(self) -> str:
        return f"{self.call_id[:8]} try {self.number}"

    @property
    def is_uncounted(self) -> bool:
        """Return whether the attempt was answered, but the server's token count is missing or not credible."""
        return self.outcome == self.Outcome.ANSWERED and bool(self.error_type)
