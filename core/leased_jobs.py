"""Background jobs that at most one worker runs at a time, based on leases.

A claim stores the worker's name, a fencing token and the end of the lease. The worker renews the lease whenever it
records progress. If a worker is killed, its lease expires and the next sweep enqueues the job again. Each claim
increments the token, so a worker that has lost the job can no longer write. Leases use only the database's clock.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Generic, Self, TypeVar

from celery import current_app
from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.process import owner

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)


class LostLease(Exception):
    """Another worker has claimed the job, or the job has ended. The pending write is discarded."""


class Canceled(Exception):
    """A user has requested cancellation of the job."""


class JobState(models.TextChoices):
    """The states of a job. WAITING and RUNNING jobs are unfinished."""

    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Canceled")


UNFINISHED = (JobState.WAITING, JobState.RUNNING)


class LeasedJob(models.Model):
    """The common fields of all job models. A subclass sets the Celery task that runs its jobs."""

    State = JobState
    TASK: ClassVar[str]
    QUEUE: ClassVar[str | None] = None  # None means the workers' default queue

    state = models.CharField(_("state"), max_length=9, choices=JobState, default=JobState.WAITING)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    owner = models.CharField(max_length=100, blank=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]

    @property
    def is_active(self) -> bool:
        """Return whether the job is waiting or running."""
        return self.state in UNFINISHED

    def enqueue(self) -> Self:
        """Enqueue the job after the transaction commits, and return it."""
        transaction.on_commit(self.dispatch, robust=True)
        return self

    def dispatch(self) -> None:
        """Enqueue the job now. If the broker is down, log a warning, because the sweep will enqueue the job again."""
        try:
            current_app.send_task(self.TASK, args=(self.pk,), queue=self.QUEUE, expires=60)
        except Exception:
            logger.warning("Workers could not be notified of %s", self, exc_info=True)


J = TypeVar("J", bound=LeasedJob)


@dataclass(frozen=True)
class Claim(Generic[J]):
    """A worker's claim on a job, valid until another worker claims the job."""

    model: type[J]
    pk: int
    fence: int

    def note(self, **progress: object) -> None:
        """Record progress and renew the lease. Raises LostLease, or Canceled if a user requested cancellation."""
        if not self._mine().update(lease_until=Now() + LEASE, **progress):
            raise LostLease
        if self._mine().filter(cancel_asked_at__isnull=False).exists():
            raise Canceled

    def end(self, state: str, **outcome: object) -> None:
        """End the job, unless another worker has claimed it."""
        self._mine().update(state=state, ended_at=Now(), owner="", lease_until=None, **outcome)

    def give_back(self) -> None:
        """Return the job to the queue, unless another worker has claimed it."""
        self._mine().update(state=JobState.WAITING, owner="", lease_until=None)

    def _mine(self) -> QuerySet[J]:
        return self.model._default_manager.filter(
            pk=self.pk, fence=self.fence, owner=owner(), state=JobState.RUNNING
        )


@transaction.atomic
def claim(model: type[J], pk: int) -> Claim[J] | None:
    """Claim the job. Return None if another worker has claimed it or the job has ended."""
    job = free(model).filter(pk=pk).select_for_update(skip_locked=True, of=("self",)).first()
    if job is None:
        return None
    model._default_manager.filter(pk=pk).update(
        state=JobState.RUNNING,
        owner=owner(),
        fence=F("fence") + 1,
        lease_until=Now() + LEASE,
        started_at=job.started_at or Now(),
    )
    return Claim(model, pk, job.fence + 1)


def dispatch_unheld(model: type[J], *, limit: int = 100) -> int:
    """Enqueue free jobs again, because a message may be lost or a worker may have died. Return their number."""
    jobs = list(free(model).order_by("pk")[:limit])
    for job in jobs:
        job.dispatch()
    return len(jobs)


def free(model: type[J]) -> QuerySet[J]:
    """Return the unfinished jobs without a valid lease: they are waiting, or their worker died."""
    return model._default_manager.filter(
        Q(lease_until=None) | Q(lease_until__lt=Now()), state__in=UNFINISHED
    )
