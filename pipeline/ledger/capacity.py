"""Track the runs that are waiting for a slot at an endpoint, and wake them. `admission` assigns the slots.

A run that finds no free slot records which endpoint it needs and frees its worker. When a slot becomes free, the next
run is woken. No run occupies a slot while it is waiting for another slot, so deadlocks are impossible.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Q

from core.database.clock import database_now
from pipeline.models import Endpoint, Run
from pipeline.models.run import RunQuerySet
from pipeline.scheduling.dispatch import TOLD_AGAIN, dispatch_runs

# Users' runs come before campaigns, but a campaign gets a turn this often.
CAMPAIGN_TURN = timedelta(minutes=1)
# How long a slot is reserved for the run that was woken for it. After that, other runs may use the slot.
KEPT = TOLD_AGAIN / 2


# Counts all workers' calls in flight. Calls of a lost worker count until its lease expires, and calls in batches never
# count.
IN_FLIGHT = """
SELECT count(*)
FROM pipeline_attempt AS attempt
JOIN pipeline_modelcall AS call ON call.key = attempt.call_id
JOIN pipeline_run AS run ON run.id = call.run_id
WHERE attempt.ended_at IS NULL AND attempt.message_batch_id IS NULL
    AND call.endpoint_id = %(endpoint)s
    AND run.lease_until > statement_timestamp()
"""
_TAKE_BACK = """
UPDATE pipeline_attempt SET place = NULL
WHERE id IN (
    SELECT attempt.id
    FROM pipeline_attempt AS attempt
    JOIN pipeline_modelcall AS call ON call.key = attempt.call_id
    JOIN pipeline_run AS run ON run.id = call.run_id
    WHERE attempt.endpoint_id = %s AND attempt.place IS NOT NULL AND attempt.ended_at IS NULL
        AND coalesce(run.lease_until <= statement_timestamp(), true)
    FOR NO KEY UPDATE OF attempt SKIP LOCKED
)
"""
_ANYBODY = "SELECT EXISTS (SELECT FROM pipeline_run WHERE waits_for_id = %s AND state = 'queued')"


class RunMustWait(Exception):
    """Raised if the run can't continue now, so that its worker can process other runs.

    `until` is the time to continue, if known. `waits_for` is the endpoint whose next free slot the run needs.
    """

    def __init__(
        self, why: str, *, until: datetime | None = None, waits_for: int | None = None
    ) -> None:
        super().__init__(why)
        self.until = until
        self.waits_for = waits_for


def tell_waiting(endpoint_id: int) -> list[int]:
    """Wake as many waiting runs as this endpoint has free slots, in order of priority."""
    with connection.cursor() as cursor:
        # Plain SQL, because every run calls this function and usually no run is waiting.
        cursor.execute(_ANYBODY, [endpoint_id])
        (anybody_waits,) = cursor.fetchone()
    return _tell_waiting(endpoint_id) if anybody_waits else []


@transaction.atomic
def _tell_waiting(endpoint_id: int) -> list[int]:
    now = database_now()
    waiting = _waiting_for(endpoint_id).filter(state=Run.State.QUEUED)
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    if endpoint.blocked_until and endpoint.blocked_until > now:
        return []
    kept = waiting.filter(told_at__gt=now - KEPT).count()
    free = endpoint.max_in_flight - _count_in_flight(endpoint_id) - kept
    told = waiting.filter(
        Q(told_at=None) | Q(told_at__lt=now - TOLD_AGAIN),
        Q(not_before=None) | Q(not_before__lte=now),
    )
    first = list(told.in_turn().select_for_update(skip_locked=True, of=("self",))[: max(free, 0)])
    dispatch_runs(first)
    return [run.pk for run in first]


def take_back_places(endpoint_id: int) -> None:
    """Free the slots of lost workers' calls. The calls stay open until their runs resume."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_BACK, [endpoint_id])


def awaited_endpoints() -> list[int]:
    """Return the endpoints that queued runs are waiting for."""
    waiting = Run.objects.filter(waits_for__isnull=False, state=Run.State.QUEUED)
    return list(waiting.order_by().values_list("waits_for", flat=True).distinct())


def _count_in_flight(endpoint_id: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(IN_FLIGHT, {"endpoint": endpoint_id})
        return int(cursor.fetchone()[0])


def _waiting_for(endpoint_id: int) -> RunQuerySet:
    return Run.objects.filter(waits_for=endpoint_id).filter(
        Q(batch=None) | Q(batch__paused_at=None)
    )
