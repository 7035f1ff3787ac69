"""Pause and resume Batches, check their budgets, and pause them automatically."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline.models import Batch, MessageBatch, Spending
from pipeline.scheduling.dispatch import dispatch_abandoned

MAX_WHY = 300
MAX_BUDGET = 10**15  # a billion dollars


@transaction.atomic
def pause_batch(batch: Batch, *, by: User, why: str = "") -> None:
    """Pause the batch.

    New runs do not start, and other runs stop before their next call. Raises NotAllowedNow if it is paused, and
    BadInput.
    """
    if len(why) > MAX_WHY:
        raise BadInput(_("Use at most %s characters.") % MAX_WHY, field="why")
    if not stop_batch(batch, why):
        raise NotAllowedNow(_("This batch is already paused."))
    batch.refresh_from_db()
    record(batch, "paused", by=by, why=("", why))


@transaction.atomic
def resume_batch(batch: Batch, *, by: User) -> None:
    """Resume the batch. Raises NotAllowedNow if it is not paused or its budget is used up."""
    batch = Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)
    if batch.paused_at is None:
        raise NotAllowedNow(_("This batch is not paused."))
    if is_used_up(batch):
        raise NotAllowedNow(_("The budget is used up. Raise the budget first."))
    was = batch.paused_why
    batch.paused_at, batch.paused_why = None, ""
    batch.save(update_fields=["paused_at", "paused_why"])
    batch.runs.unfinished().update(told_at=None)
    record(batch, "resumed", by=by, why=(was, ""))
    dispatch_abandoned(of=batch)


@transaction.atomic
def set_budget(batch: Batch, *, budget: int | None, by: User) -> None:
    """Set the budget in micro-dollars, or None for no limit. A paused batch stays paused. Raises BadInput."""
    if budget is not None and not 0 <= budget <= MAX_BUDGET:
        raise BadInput(_("Enter a budget of 0 or more."), field="budget")
    batch = Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)
    was, batch.budget = batch.budget, budget
    batch.save(update_fields=["budget"])
    record(batch, "budget set", by=by, budget=(was, budget))


def stop_batch(batch: Batch, why: str) -> bool:
    """Pause the batch. If it is already paused, return False and keep its reason."""
    changed = Batch.objects.filter(pk=batch.pk, paused_at=None).update(
        paused_at=timezone.now(), paused_why=why[:MAX_WHY]
    )
    return bool(changed)


def spent_by(batch: Batch) -> int:
    """Return the known cost of the batch's ended calls in micro-dollars."""
    total = Spending.objects.filter(batch=batch).aggregate(total=Sum("cost"))["total"]
    return int(total or 0)


def kept_for_message_batches(batch: Batch) -> int:
    """Return the amount reserved for the batch's unfinished message batches, in micro-dollars."""
    unfinished = batch.message_batches.filter(state__in=MessageBatch.UNFINISHED)
    return unfinished.aggregate(total=Sum("reserved"))["total"] or 0


def is_used_up(batch: Batch) -> bool:
    """Return whether the budget is spent. Calls in flight have no cost yet, so they may exceed the budget."""
    return batch.budget is not None and spent_by(batch) >= batch.budget
