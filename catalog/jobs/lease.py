"""Who works on a Job: claimed, kept alive with each word on how far it is, ended; every write is fenced.

A worker that is killed leaves a lease that runs out; the next sweep hands the job to another one.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from catalog.models import Job

LEASE = timedelta(seconds=60)
OWNER = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
TASK = "catalog.carry_out_job"


class LostLease(Exception):
    """Another worker holds the job now, or somebody cancelled it; what was being written is not."""


@dataclass(frozen=True)
class Held:
    """A claim on a Job; it counts while its fence is still this one."""

    pk: int
    fence: int

    def note(self, **progress: object) -> None:
        """Write down how far it is and renew the lease. Raises LostLease."""
        if not self._mine().update(lease_until=timezone.now() + LEASE, **progress):
            raise LostLease

    def end(self, state: str, **outcome: object) -> None:
        """Give it up for good. Nothing where it is somebody else's."""
        self._mine().update(
            state=state, ended_at=timezone.now(), owner="", lease_until=None, **outcome
        )

    def _mine(self) -> QuerySet[Job]:
        return Job.objects.filter(
            pk=self.pk, fence=self.fence, owner=OWNER, state=Job.State.RUNNING
        )


def begin(kind: Job.Kind, *, by: User | None, **fields: object) -> Job:
    """A job that waits for a worker, who is told as soon as the transaction is through.

    A broker that is down fails nothing: the sweep finds the job.
    """
    job = Job.objects.create(kind=kind, by=by, **fields)
    transaction.on_commit(lambda: tell(job.pk), robust=True)
    return job


def tell(pk: int) -> None:
    """Tell the workers of a job."""
    current_app.send_task(TASK, args=[pk])


@transaction.atomic
def claim(pk: int) -> Held | None:
    """Take the job, or None where another worker holds it or nothing is left to do."""
    now = timezone.now()
    job = (
        Job.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(Q(lease_until=None) | Q(lease_until__lt=now), pk=pk)
        .filter(state__in=[Job.State.WAITING, Job.State.RUNNING])
        .first()
    )
    if job is None:
        return None
    Job.objects.filter(pk=pk).update(
        state=Job.State.RUNNING,
        owner=OWNER,
        fence=F("fence") + 1,
        lease_until=now + LEASE,
        started_at=job.started_at or now,
    )
    return Held(pk, job.fence + 1)


def unheld() -> list[int]:
    """Jobs that no worker holds and that are not done: nobody was told of them, or who held them died."""
    now = timezone.now()
    unfinished = Job.objects.filter(state__in=[Job.State.WAITING, Job.State.RUNNING])
    free = unfinished.filter(Q(lease_until=None) | Q(lease_until__lt=now))
    return list(free.order_by("pk").values_list("pk", flat=True))


def progress_of(job: Job) -> Mapping[str, object]:
    """What the progress component shows of a job."""
    return {"value": job.done if job.total else "", "max": job.total or ""}
