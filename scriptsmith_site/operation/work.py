"""The current workload: workers, backlog and resting endpoints."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import Now

from catalog.models import Job, SandboxReport
from catalog.services import last_report, results_waiting
from pipeline.models import Endpoint, Run, Worker
from review.models import Transfer

# A worker without a heartbeat for this time counts as lost. It equals three default leases.
LOST_AFTER = timedelta(seconds=60)
# The limit for runs that users are waiting for. Campaign runs may wait longer.
TOO_OLD = timedelta(minutes=10)
_SHOWN = 8  # number of runs shown per worker


@dataclass(frozen=True)
class WorkerNow:
    """A worker and its claimed runs."""

    worker: Worker
    alive: bool
    runs: int
    some: list[int]  # the oldest runs


@dataclass(frozen=True)
class Backlog:
    """The waiting work, and the creation time of the oldest work that a user is waiting for."""

    people: int
    campaigns: int
    running: int
    for_endpoint: int
    jobs: int
    oldest: datetime | None


@dataclass(frozen=True)
class SandboxNow:
    """The latest report of the sandbox worker, or None, and the number of results that are waiting for it."""

    report: SandboxReport | None
    waiting: int
    oldest: datetime | None


def sandbox_now() -> SandboxNow:
    waiting = results_waiting().aggregate(n=Count("pk"), at=Min("created_at"))
    return SandboxNow(last_report(), waiting["n"], waiting["at"])


def workers_now() -> list[WorkerNow]:
    """Return the workers that are alive or were lost recently."""
    alive = set(living_workers().values_list("pk", flat=True))
    runs: dict[str, list[int]] = defaultdict(list)
    held = Run.objects.filter(state=Run.State.RUNNING).order_by("pk")
    for pk, owner in held.values_list("pk", "owner"):
        runs[owner].append(pk)
    return [
        WorkerNow(one, one.pk in alive, len(runs[one.name]), runs[one.name][:_SHOWN])
        for one in Worker.objects.all()
    ]


def has_living_worker() -> bool:
    return living_workers().exists()


def living_workers() -> QuerySet[Worker]:
    """Return the workers with a recent heartbeat, according to the database's clock."""
    return Worker.objects.filter(seen_at__gt=Now() - LOST_AFTER)


def backlog_now() -> Backlog:
    """Return the current backlog. Waiting campaign runs do not count as delayed."""
    queued = Q(state=Run.State.QUEUED)
    runs = Run.objects.unfinished().aggregate(
        people=Count("pk", filter=queued & Q(batch=None)),
        campaigns=Count("pk", filter=queued & Q(batch__isnull=False)),
        running=Count("pk", filter=Q(state=Run.State.RUNNING)),
        for_endpoint=Count("pk", filter=queued & Q(waits_for__isnull=False)),
        # Exclude runs that continue for a refinement, because they were created long ago.
        oldest=Min("created_at", filter=queued & Q(batch=None, finished_at=None)),
    )
    jobs = Job.objects.filter(state=Job.State.WAITING).aggregate(
        n=Count("pk"), at=Min("created_at")
    )
    transfers = Transfer.objects.filter(state=Transfer.State.WAITING).aggregate(
        n=Count("pk"), at=Min("created_at")
    )
    moments = [moment for moment in (runs.pop("oldest"), jobs["at"], transfers["at"]) if moment]
    return Backlog(**runs, jobs=jobs["n"] + transfers["n"], oldest=min(moments, default=None))


def endpoints_at_rest() -> list[Endpoint]:
    """Return the endpoints that are temporarily blocked."""
    return list(Endpoint.objects.filter(blocked_until__gt=Now()))
