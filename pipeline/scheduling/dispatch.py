"""Tells the workers which runs can go on. A message is a hint: what gets lost is told again by the sweep."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from pipeline.models import Batch, Run
from pipeline.models.run import RunQuerySet

logger = logging.getLogger(__name__)

SWEEP_LIMIT = 200
TOLD_AGAIN = timedelta(seconds=10)
_MESSAGE_SECONDS = 30  # a message nobody took for so long is void: its run has been told again


def tell(runs: Sequence[Run]) -> None:
    """Have these runs taken up by workers, once this transaction has committed."""
    if not runs:
        return
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(told_at=timezone.now())
    transaction.on_commit(lambda: _send(runs))


def tell_abandoned(*, of: Batch | None = None) -> list[int]:
    """Tell of unfinished runs that no worker holds and that wait for no endpoint, the first in turn first.

    At most SWEEP_LIMIT at a time, and none that was told of lately; with `of`, of that batch alone.
    """
    runs = Run.objects.abandoned().filter(
        # One that was under way is nobody's since its worker was lost, whatever it waited for.
        Q(waits_for=None) | Q(state=Run.State.RUNNING),
        _not_told_since(TOLD_AGAIN),
    )
    return _tell_first(runs.filter(batch=of) if of else runs, SWEEP_LIMIT)


def tell_next_of_campaigns() -> list[int]:
    """Tell of the campaigns' run whose turn is next: the worker has room for one more."""
    runs = Run.objects.abandoned().filter(
        _not_told_since(timedelta(seconds=2)), waits_for=None, batch__isnull=False
    )
    return _tell_first(runs, 1)


@transaction.atomic
def forget_what_was_told() -> None:
    """A worker starts: what was told to one before it may have ended with that one."""
    told = Run.objects.unfinished().exclude(told_at=None).order_by("pk")
    # One that is locked now is being worked on, or told of anew.
    free = told.select_for_update(skip_locked=True, of=("self",), no_key=True).values("pk")
    Run.objects.filter(pk__in=free).update(told_at=None)


@transaction.atomic
def _tell_first(runs: RunQuerySet, most: int) -> list[int]:
    first = list(runs.in_turn().select_for_update(skip_locked=True, of=("self",))[:most])
    tell(first)
    return [run.pk for run in first]


def _not_told_since(age: timedelta) -> Q:
    return Q(told_at=None) | Q(told_at__lt=timezone.now() - age)


def _send(runs: Sequence[Run]) -> None:
    """One message for each; where the broker is down, the sweep tells them when it is back."""
    try:
        for run in runs:
            # By name: the task's module loads what only workers need.
            current_app.send_task(
                "pipeline.execute_run",
                (run.pk,),
                queue=Run.queue_of(run.batch_id),
                expires=_MESSAGE_SECONDS,
            )
    except Exception:
        logger.warning("the workers could not be told of %s runs", len(runs), exc_info=True)
