"""Leases on Runs. A lease records which worker has claimed a Run, and until when. A fencing token guards every write.

`heartbeat` renews leases. Lease times are computed and compared only with the database's clock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models.functions import Now

from core.database.clock import database_now
from core.process import owner
from pipeline.costs.daily_spending import add_spending
from pipeline.models import Attempt, Run

logger = logging.getLogger(__name__)

T = TypeVar("T")

MAX_CRASHES = 3


class LostLease(Exception):
    """Raised if another worker has claimed the run, so the write was rejected."""


def lease_length() -> timedelta:
    """Return the length of a lease. The database computes its end when the lease is written."""
    return timedelta(seconds=settings.SCRIPTSMITH_RUN_LEASE_SECONDS)


class LeasedRun(NamedTuple):
    """The columns of a leased run that a worker needs for every write."""

    batch_id: int | None
    waits_for_id: int | None


_TAKE_NEW = """
UPDATE pipeline_run SET
    state = 'running', owner = %(owner)s, fence = 1, told_at = NULL, not_before = NULL,
    lease_until = clock_timestamp() + %(lease)s, started_at = statement_timestamp()
WHERE id = (
    SELECT run.id FROM pipeline_run AS run
    LEFT JOIN pipeline_batch AS batch ON batch.id = run.batch_id
    WHERE run.id = %(run)s AND run.fence = 0 AND run.state = 'queued'
        AND (run.not_before IS NULL OR run.not_before <= statement_timestamp()) AND batch.paused_at IS NULL
    FOR NO KEY UPDATE OF run SKIP LOCKED
)
"""


@dataclass(frozen=True)
class Lease:
    """A claim on a Run, valid as long as the run has this fence."""

    run_id: int
    owner: str
    fence: int

    def check(self) -> LeasedRun:
        """Lock the run, inside a transaction. Raises LostLease if another worker has claimed it."""
        with connection.cursor() as cursor:
            # Plain SQL, because it precedes every write of every run.
            cursor.execute(
                "SELECT batch_id, waits_for_id FROM pipeline_run"
                " WHERE id = %s AND owner = %s AND fence = %s FOR NO KEY UPDATE",
                [self.run_id, self.owner, self.fence],
            )
            row = cursor.fetchone()
        if row is None:
            raise LostLease(f"run {self.run_id}")
        return LeasedRun(*row)


def claim(run_id: int) -> Lease | None:
    """Claim the run. Return None if another worker has claimed it, it is paused, or no work is left.

    A run in progress without a live lease has lost its worker. After MAX_CRASHES such losses without a finished call in
    between, the run fails.
    """
    return _take_new(run_id) or _take_again(run_id)


def _take_new(run_id: int) -> Lease | None:
    """Claim a run that was never claimed before and so has no open attempts to close. Return None for other runs."""
    with connection.cursor() as cursor:
        # The type stubs do not allow timedelta parameters, but psycopg does.
        values: dict[str, Any] = {"run": run_id, "owner": owner(), "lease": lease_length()}
        cursor.execute(_TAKE_NEW, values)
        return Lease(run_id, owner(), fence=1) if cursor.rowcount else None


def _take_again(run_id: int) -> Lease | None:
    with transaction.atomic():
        run = (
            Run.objects.select_for_update(skip_locked=True, of=("self",))
            .abandoned()
            .filter(pk=run_id)
            .first()
        )
        if run is None:
            return None
        crashed = run.state == Run.State.RUNNING
        run.crashes = run.crashes + 1 if crashed else run.crashes
        run.fence += 1
        if run.crashes >= MAX_CRASHES:
            run.problem = f"The worker crashed {MAX_CRASHES} times in a row during this run. Check the workers' log."
            run.state, run.owner, run.lease_until = Run.State.FAILED, "", None
            run.finished_at = run.finished_at or database_now()
            run.save(
                update_fields=[
                    "crashes",
                    "fence",
                    "problem",
                    "state",
                    "owner",
                    "lease_until",
                    "finished_at",
                ]
            )
            mark_orphans(run)
            return None
        run.state = Run.State.RUNNING
        run.owner = owner()
        run.lease_until = Now() + lease_length()
        run.not_before = run.told_at = None
        run.started_at = run.started_at or database_now()
        run.save(
            update_fields=[
                "crashes",
                "fence",
                "state",
                "owner",
                "lease_until",
                "not_before",
                "told_at",
                "started_at",
            ]
        )
        mark_orphans(run)
    return Lease(run.pk, owner(), run.fence)


def mark_orphans(
    run: Run, *, why: str = "The worker stopped before the reply arrived.", error_type: str = ""
) -> int:
    """Close attempts that a lost worker left open. Their calls may have been billed and are repeated.

    Call this function near the end of a transaction that has locked the run, because it adds the attempts to the
    spending. Attempts in a Message Batch do not belong to a worker and stay open.
    """
    left = Attempt.objects.filter(
        call__run=run, ended_at=None, fence__lt=run.fence, message_batch=None
    )
    orphans = list(left.select_for_update(of=("self",)).values_list("pk", flat=True))
    Attempt.objects.filter(pk__in=orphans).update(
        ended_at=database_now(),
        outcome=Attempt.Outcome.ORPHANED,
        possibly_billed=True,
        message=why,
        error_type=error_type,
    )
    add_spending(orphans)
    return len(orphans)


def release(lease: Lease, *, until: datetime | None = None, waits_for: int | None = None) -> None:
    """Return the run to the queue, to resume immediately, at a given time, or when an endpoint has a free slot."""
    Run.objects.filter(
        pk=lease.run_id, owner=lease.owner, fence=lease.fence, state=Run.State.RUNNING
    ).update(
        state=Run.State.QUEUED,
        owner="",
        lease_until=None,
        not_before=until,
        waits_for=waits_for,
    )


def retry_while_database_is_away(write: Callable[[], T]) -> T:
    """Call `write`, and repeat the call while the database is unreachable, for as long as a lease lasts.

    Use this function for data that can't be recreated, such as a billed reply. `write` must be idempotent, because its
    commit may have succeeded although the confirmation was lost.
    """
    deadline = time.monotonic() + settings.SCRIPTSMITH_RUN_LEASE_SECONDS
    while True:
        try:
            return write()
        except (OperationalError, InterfaceError):
            if connection.in_atomic_block or time.monotonic() > deadline:
                raise
            logger.warning("the database is unreachable; retrying", exc_info=True)
            connection.close()
            time.sleep(0.2)
