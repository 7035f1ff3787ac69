"""MessageBatch: requests from many runs, sent to an endpoint together and answered within a day at half the price."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from pipeline.models.configuration import Endpoint
from pipeline.models.run import Batch


class MessageBatch(models.Model):
    """A Message Batch. Its requests are the Attempts that refer to it.

    A batch is stored before it is sent. A batch in the *sending* state without a remote id may have reached the server.
    Before the batch is sent again, a worker searches the server's batches by time and size. The match is certain once
    the results contain the batch's requests (`is_certain`).
    """

    class State(models.TextChoices):
        PREPARED = "prepared", _("To be sent")
        SENDING = "sending", _("Being sent")
        IN_PROGRESS = "in_progress", _("In progress")
        CANCELING = "canceling", _("Being canceled")
        ENDED = "ended", _("Ended, reading results")
        DONE = "done", _("Ended")
        FAILED = "failed", _("Refused")

    UNFINISHED: ClassVar = (
        State.PREPARED,
        State.SENDING,
        State.IN_PROGRESS,
        State.CANCELING,
        State.ENDED,
    )

    # The set of runs whose calls the batch contains, and whose budget pays for the batch.
    batch = models.ForeignKey(Batch, models.PROTECT, related_name="message_batches")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="message_batches")
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.PREPARED)
    remote_id = models.CharField(max_length=100, blank=True)
    is_certain = models.BooleanField(default=False)
    # Batches on the server that looked like this batch while it was being sent, but are different batches.
    not_ours = models.JSONField(default=list, blank=True)
    requests = models.PositiveIntegerField(_("requests"))
    answered = models.PositiveIntegerField(_("answered"), default=0)
    errored = models.PositiveIntegerField(_("failed"), default=0)
    expired = models.PositiveIntegerField(_("expired"), default=0)
    cancelled = models.PositiveIntegerField(_("canceled"), default=0)
    # Micro-dollars that are reserved in the budget until the batch ends.
    reserved = models.PositiveBigIntegerField(default=0)
    problem = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(_("collected"), default=timezone.now, editable=False)
    sent_at = models.DateTimeField(_("sent"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    # The earliest time of the next poll. A worker postpones it before polling, so that no two workers poll at once.
    next_look_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "message batches"
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        "prepared",
                        "sending",
                        "in_progress",
                        "canceling",
                        "ended",
                        "done",
                        "failed",
                    ]
                ),
                name="message_batch_state_legal",
            ),
            models.UniqueConstraint(
                fields=["endpoint", "remote_id"],
                condition=Q(is_certain=True) & ~Q(remote_id=""),
                name="message_batch_remote_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_look_at"],
                name="message_batch_unfinished",
                condition=~Q(state__in=["done", "failed"]),
            )
        ]

    def __str__(self) -> str:
        return f"Message batch {self.pk}"

    @property
    def is_unfinished(self) -> bool:
        return self.state in self.UNFINISHED
