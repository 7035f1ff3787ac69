"""Jobs in the background that one worker does at a time: enqueued, claimed, kept alive, ended.

A worker holds a job by owner, fence and lease. The lease is renewed whenever the worker notes its progress; a worker
that is killed leaves a lease that runs out, and the next sweep hands the job to another one. The fence rises with each
claim, so that what a worker writes after it has lost the job changes nothing. Ends of leases are computed and judged
by the database's clock alone.
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

from core.process import OWNER

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)


class LostLease(Exception):
    """Another worker holds the job now, or it was ended; what was being written is not."""


class Cancelled(Exception):
    """Somebody asked to stop the job."""


class JobState(models.TextChoices):
    """The states of every job; WAITING and RUNNING are the unfinished ones."""

    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


UNFINISHED = (JobState.WAITING, JobState.RUNNING)


class LeasedJob(models.Model):
    """What every table of jobs has. A subclass names the Celery task that carries one out."""

    State = JobState
    TASK: ClassVar[str]
    QUEUE: ClassVar[str | None] = None  # None: the workers' default one

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
        """Whether it waits for a worker or one is at it."""
        return self.state in UNFINISHED

    def enqueue(self) -> Self:
        """Tell the workers as soon as the transaction is through; the job itself."""
        transaction.on_commit(self.dispatch, robust=True)
        return self

    def dispatch(self) -> None:
        """Tell the workers now. A broker that is down fails nothing: the sweep tells them again."""
        try:
            current_app.send_task(self.TASK, args=(self.pk,), queue=self.QUEUE, expires=60)
        except Exception:
            logger.warning("The workers could not be told of %s", self, exc_info=True)


J = TypeVar("J", bound=LeasedJob)


@dataclass(frozen=True)
class Claim(Generic[J]):
    """A worker's hold on a job; it counts while the job's fence is still this one."""

    model: type[J]
    pk: int
    fence: int

    def note(self, **progress: object) -> None:
        """Write down how far it is and renew the lease. Raises LostLease, and Cancelled where that was asked."""
        if not self._mine().update(lease_until=Now() + LEASE, **progress):
            raise LostLease
        if self._mine().filter(cancel_asked_at__isnull=False).exists():
            raise Cancelled

    def end(self, state: str, **outcome: object) -> None:
        """Give it up for good. Nothing where it is somebody else's."""
        self._mine().update(state=state, ended_at=Now(), owner="", lease_until=None, **outcome)

    def give_back(self) -> None:
        """Leave it to whoever is told of it next. Nothing where it is somebody else's."""
        self._mine().update(state=JobState.WAITING, owner="", lease_until=None)

    def _mine(self) -> QuerySet[J]:
        return self.model._default_manager.filter(
            pk=self.pk, fence=self.fence, owner=OWNER, state=JobState.RUNNING
        )


@transaction.atomic
def claim(model: type[J], pk: int) -> Claim[J] | None:
    """Take the job, or None where another worker holds it or nothing is left to do."""
    job = free(model).filter(pk=pk).select_for_update(skip_locked=True, of=("self",)).first()
    if job is None:
        return None
    model._default_manager.filter(pk=pk).update(
        state=JobState.RUNNING,
        owner=OWNER,
        fence=F("fence") + 1,
        lease_until=Now() + LEASE,
        started_at=job.started_at or Now(),
    )
    return Claim(model, pk, job.fence + 1)


def dispatch_unheld(model: type[J], *, limit: int = 100) -> int:
    """Tell the workers of jobs that none holds: nobody was told of them, or who held them died. How many it was."""
    jobs = list(free(model).order_by("pk")[:limit])
    for job in jobs:
        job.dispatch()
    return len(jobs)


def free(model: type[J]) -> QuerySet[J]:
    """The unfinished jobs that no worker holds: they wait, or who held them has died."""
    return model._default_manager.filter(
        Q(lease_until=None) | Q(lease_until__lt=Now()), state__in=UNFINISHED
    )
