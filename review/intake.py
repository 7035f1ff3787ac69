"""Takes finished runs into the live queue: promptly when told, and by a sweep for what was missed."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from pipeline.models import DraftUse, Run
from review.models import Campaign, Case, Item

# What people asked for on the page or over the API; runs of campaigns and of the command line are not.
_ORIGINS = [Run.Origin.ASKED, Run.Origin.DEMO]
BREAK_GLASS = 100
_SWEEP_LIMIT = 500


def live_queue() -> Campaign:
    """The one Campaign without end."""
    return Campaign.objects.get(kind=Campaign.Kind.LIVE)


def take_in(run_id: int) -> Item | None:
    """Put one finished run into the live queue; None where it does not belong there or is there already.

    A run answered from the catalogue does not: its script is verified. It can be sent there by hand.
    """
    run = (
        _candidates(live_queue())
        .filter(pk=run_id, answered_by=None)
        .select_related("action")
        .first()
    )
    return send_to_queue(run) if run else None


def take_in_missed() -> int:
    """Put every finished run that belongs into the live queue and is not there; returns how many."""
    missed = (
        _candidates(live_queue()).filter(answered_by=None).select_related("action")[:_SWEEP_LIMIT]
    )
    return sum(1 for run in missed if send_to_queue(run))


def item_of_run(run_id: int) -> Item | None:
    """The live queue's item of a run, made where it is not there; None where the run has no script."""
    item = Item.objects.filter(run=run_id, campaign__kind=Campaign.Kind.LIVE).first()
    if item is not None:
        return item
    run = Run.objects.filter(pk=run_id, state=Run.State.DONE, recommended__isnull=False).first()
    return send_to_queue(run) if run else None


@transaction.atomic
def send_to_queue(run: Run) -> Item | None:
    """One Case and Item for a run; None where another process was faster."""
    queue = live_queue()
    case, _created = Case.objects.get_or_create(
        campaign=queue, external_id=f"run-{run.pk}", defaults={"action": run.action}
    )
    item, created = Item.objects.get_or_create(
        case=case,
        configuration=run.configuration,
        defaults={
            "campaign": queue,
            "run": run,
            "state": Item.State.OPEN,
            "priority": priority_of(run),
        },
    )
    return item if created else None


def raise_priority(run_id: int) -> None:
    """Somebody used the script before it was reviewed: it comes first now."""
    run = Run.objects.select_related("action").get(pk=run_id)
    Item.objects.filter(run=run, campaign__kind=Campaign.Kind.LIVE).update(
        priority=priority_of(run)
    )


def priority_of(run: Run) -> int:
    """Graver incidents first; scripts that were used without review before all others."""
    used = DraftUse.objects.filter(draft__run=run).exists()
    return (4 - run.action.severity) + (BREAK_GLASS if used else 0)


def _candidates(queue: Campaign) -> QuerySet[Run]:
    there = Item.objects.filter(campaign=queue, run=OuterRef("pk"))
    return (
        Run.objects.filter(state=Run.State.DONE, origin__in=_ORIGINS, recommended__isnull=False)
        .exclude(Exists(there))
        .order_by("pk")
    )
