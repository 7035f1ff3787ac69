"""Send runnable runs to the workers' queues. A lost message costs only time, because the sweep sends it again."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.db.models import Q

from core.database.clock import database_now
from pipeline.models import Batch, Run
from pipeline.models.run import RunQuerySet

logger = logging.getLogger(__name__)

SWEEP_LIMIT = 200
TOLD_AGAIN = timedelta(seconds=10)
_MESSAGE_SECONDS = (
    30  # Seconds until an unread message expires. By then the run has been sent again.
)


def dispatch_runs(runs: Sequence[Run]) -> None:
    """Send these runs to the workers' queues, once this transaction has committed."""
    if not runs:
        return
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(told_at=database_now())
    transaction.on_commit(lambda: _send(runs))


def dispatch_abandoned(*, of: Batch | None = None) -> list[int]:
    """Send unfinished runs that have no worker and are not waiting for an endpoint, in order of priority.

    At most SWEEP_LIMIT runs are sent at a time. Runs that were sent recently are skipped. With `of`, only runs of that
    batch are sent.
    """
    runs = Run.objects.abandoned().filter(
        # A running run without a lease has lost its worker, so send it again regardless of `waits_for`.
        Q(waits_for=None) | Q(state=Run.State.RUNNING),
        _not_dispatched_since(TOLD_AGAIN),
    )
    return _dispatch_first(runs.filter(batch=of) if of else runs, SWEEP_LIMIT)


def dispatch_next_of_campaigns() -> list[int]:
    """Send the next run of the campaigns, for a worker that has a free thread."""
    runs = Run.objects.abandoned().filter(
        _not_dispatched_since(timedelta(seconds=2)), waits_for=None, batch__isnull=False
    )
    return _dispatch_first(runs, 1)


@transaction.atomic
def forget_dispatches() -> None:
    """Allow resending runs immediately after a worker starts, because its predecessor's messages may be lost."""
    told = Run.objects.unfinished().exclude(told_at=None).order_by("pk")
    # A locked run is in progress or being sent now.
    free = told.select_for_update(skip_locked=True, of=("self",), no_key=True).values("pk")
    Run.objects.filter(pk__in=free).update(told_at=None)


@transaction.atomic
def _dispatch_first(runs: RunQuerySet, most: int) -> list[int]:
    first = list(runs.in_turn().select_for_update(skip_locked=True, of=("self",))[:most])
    dispatch_runs(first)
    return [run.pk for run in first]


def _not_dispatched_since(age: timedelta) -> Q:
    return Q(told_at=None) | Q(told_at__lt=database_now() - age)


def _send(runs: Sequence[Run]) -> None:
    """Send a message for each run. If the broker is down, the sweep sends them later."""
    try:
        for run in runs:
            # Send by name, because the task's module imports code that only workers need.
            current_app.send_task(
                "pipeline.execute_run",
                (run.pk,),
                queue=Run.queue_of(run.batch_id),
                expires=_MESSAGE_SECONDS,
            )
    except Exception:
        logger.warning("could not notify the workers of %s runs", len(runs), exc_info=True)
