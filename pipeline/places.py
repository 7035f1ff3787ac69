"""Places at an endpoint: how many calls may be in flight, and whose turn it is when there are too few.

A run that finds none free says what it waits for and lets go of its worker; whoever leaves a place tells
the next. Nobody holds one place while waiting for another, so no two runs can wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.models import Batch, Endpoint, Run
from pipeline.models.run import RunQuerySet
from pipeline.telling import TOLD_AGAIN, tell
from pipeline.types import Problem

# People come before campaigns, but so often at least a campaign's call goes first.
CAMPAIGN_TURN = timedelta(minutes=1)
# So long a place is kept for a run that was told of it; then somebody else may have it for a while.
_KEPT = TOLD_AGAIN / 2


_LOCK = "SELECT * FROM pipeline_endpoint WHERE id = %s FOR NO KEY UPDATE"
_LOOK = """
SELECT count(*), EXISTS (SELECT FROM pipeline_run WHERE waits_for_id = %s)
FROM pipeline_attempt attempt
JOIN pipeline_modelcall call ON call.key = attempt.call_id
JOIN pipeline_run run ON run.id = call.run_id
WHERE attempt.ended_at IS NULL AND call.endpoint_id = %s AND run.lease_until > now()
"""


_ANYBODY = "SELECT EXISTS (SELECT FROM pipeline_run WHERE waits_for_id = %s AND state = 'queued')"


class Rest(Exception):
    """The run can't go on now; its worker is to be free until then.

    `until` is a time, where one is known; `waits_for` the endpoint whose next free place is wanted.
    """

    def __init__(
        self, why: str, *, until: datetime | None = None, waits_for: int | None = None
    ) -> None:
        super().__init__(why)
        self.until = until
        self.waits_for = waits_for


@dataclass(frozen=True)
class Places:
    """How many places a run was given at an endpoint, and whether others could have one too."""

    endpoint: Endpoint
    given: int
    tell_others: bool


def claim_places(run_id: int, endpoint_id: int, *, batch: Batch | None, wanted: int) -> Places:
    """At least one place and at most as many as wanted, where the endpoint is on and awake.

    Raises Rest where none is free, or all that are belong to runs whose turn is first; Problem where the
    endpoint is switched off. The endpoint stays locked until the transaction ends, for counting and
    taking must not interleave between workers.
    """
    # Rows that refer to an endpoint can be made meanwhile: their lock and this one go together.
    endpoint = Endpoint.objects.raw(_LOCK, [endpoint_id])[0]
    now = timezone.now()
    if not endpoint.is_on:
        raise Problem(_("%s is switched off.") % endpoint)
    if endpoint.blocked_until and endpoint.blocked_until > now:
        raise Rest(endpoint.blocked_why, until=endpoint.blocked_until, waits_for=endpoint.pk)
    in_flight, anybody_waits = _look_at(endpoint)
    free = endpoint.max_in_flight - in_flight
    waiting, ahead = 0, 0
    if free > 0 and anybody_waits:
        waiting, ahead = _count_waiting(run_id, batch, endpoint, now)
    given = min(wanted, free - ahead)
    if given < 1:
        raise Rest(_("%s has no place free.") % endpoint, waits_for=endpoint.pk)
    if batch is not None:
        _note_campaign_call(endpoint, now)
    return Places(endpoint, given, tell_others=free > given and waiting > 0)


def tell_waiting(endpoint_id: int) -> list[int]:
    """Tell as many of those who wait for this endpoint as it has places free, the first in turn first."""
    with connection.cursor() as cursor:
        # Plain SQL: mostly nobody waits, and every run asks.
        cursor.execute(_ANYBODY, [endpoint_id])
        (anybody_waits,) = cursor.fetchone()
    return _tell_waiting(endpoint_id) if anybody_waits else []


@transaction.atomic
def _tell_waiting(endpoint_id: int) -> list[int]:
    now = timezone.now()
    waiting = _waiting_for(endpoint_id).filter(state=Run.State.QUEUED)
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    if endpoint.blocked_until and endpoint.blocked_until > now:
        return []
    kept = waiting.filter(told_at__gt=now - _KEPT).count()
    free = endpoint.max_in_flight - _look_at(endpoint)[0] - kept
    told = waiting.filter(
        Q(told_at=None) | Q(told_at__lt=now - TOLD_AGAIN),
        Q(not_before=None) | Q(not_before__lte=now),
    )
    first = list(told.in_turn().select_for_update(skip_locked=True, of=("self",))[: max(free, 0)])
    tell(first)
    return [run.pk for run in first]


def awaited_endpoints() -> list[int]:
    """The endpoints that queued runs wait for."""
    waiting = Run.objects.filter(waits_for__isnull=False, state=Run.State.QUEUED)
    return list(waiting.order_by().values_list("waits_for", flat=True).distinct())


def _look_at(endpoint: Endpoint) -> tuple[int, bool]:
    """Calls in flight of all workers, and whether any run waits for a place.

    A lost worker's calls count until its lease has run out. Plain SQL: it stands before every call.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOOK, [endpoint.pk, endpoint.pk])
        in_flight, anybody_waits = cursor.fetchone()
    return in_flight, anybody_waits


def _waiting_for(endpoint_id: int) -> RunQuerySet:
    return Run.objects.filter(waits_for=endpoint_id).filter(
        Q(batch=None) | Q(batch__paused_at=None)
    )


def _count_waiting(
    run_id: int, batch: Batch | None, endpoint: Endpoint, now: datetime
) -> tuple[int, int]:
    """How many wait for this endpoint, and how many of them are to have a place before this run."""
    coming = Q(state=Run.State.RUNNING, lease_until__gt=now)
    # One that was told and did not come within its time keeps nobody waiting.
    queued = Q(state=Run.State.QUEUED) & (Q(told_at=None) | Q(told_at__gt=now - _KEPT))
    older = Q(pk__lt=run_id)
    waiting = _waiting_for(endpoint.pk).filter(coming | queued).exclude(pk=run_id)
    last = endpoint.campaign_call_at
    turn_is_due = last is None or last <= now - CAMPAIGN_TURN
    if batch is None:
        found = waiting.aggregate(
            all=Count("pk"),
            people=Count("pk", filter=Q(batch=None) & older),
            campaigns=Count("pk", filter=Q(batch__isnull=False)),
        )
        return found["all"], found["people"] + min(found["campaigns"], int(turn_is_due))
    mine = batch.priority
    found = waiting.aggregate(
        all=Count("pk"),
        people=Count("pk", filter=Q(batch=None)),
        campaigns=Count("pk", filter=Q(batch__priority__gt=mine) | Q(batch__priority=mine) & older),
    )
    return found["all"], found["campaigns"] + (0 if turn_is_due else found["people"])


def _note_campaign_call(endpoint: Endpoint, now: datetime) -> None:
    last = endpoint.campaign_call_at
    if last is None or last <= now - CAMPAIGN_TURN / 10:
        Endpoint.objects.filter(pk=endpoint.pk).update(campaign_call_at=now)
