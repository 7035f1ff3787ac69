"""Where the live queue stands with runs: what was decided on them, how far they have come, how long it usually takes.

Registered with `pipeline.hooks` by the composition root, since the pipeline does not know of reviews. It is asked
only about runs whose verdict the person may see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from statistics import median

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from pipeline.hooks import ReviewProgress
from pipeline.models import Run
from review.models import Assignment, Campaign, Decision, Item
from review.queue.eligibility import URGENT_FIRST

# A position further back is not counted: it says no more than that it will take long.
MOST_POSITIONS = 200
# The usual wait is that of the newest decisions, and says nothing of fewer than these.
_NEWEST, _FEWEST = 50, 5


def mark_reviewed_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    """The runs with `review_decision`, `review_version` and `review_waits`; no query of its own."""
    live = Item.objects.filter(run=OuterRef("pk"), campaign__kind=Campaign.Kind.LIVE)
    decided = _decisions().filter(item__run=OuterRef("pk"))
    return runs.annotate(
        review_decision=Subquery(decided.values("kind")[:1]),
        review_version=Subquery(decided.values("publication__version__state")[:1]),
        review_waits=Exists(live.filter(state=Item.State.OPEN)),
    )


def describe_reviews(run_ids: Sequence[int]) -> Mapping[int, ReviewProgress]:
    """What the live queue knows of these runs, in at most four queries; runs that never came there are left out."""
    decided = {
        one.item.run_id: ReviewProgress(
            decided_by=one.by.get_full_name() or one.by.get_username(),
            decided_at=one.at,
            reason=one.reason,
            draft=one.edited_id or one.draft_id,
        )
        for one in _decisions().filter(item__run__in=run_ids).select_related("item", "by")
        if one.item.run_id is not None
    }
    held = Assignment.objects.filter(
        item=OuterRef("pk"), state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    )
    open_items = dict(
        Item.objects.filter(
            run__in=run_ids, campaign__kind=Campaign.Kind.LIVE, state=Item.State.OPEN
        ).values_list("run", Exists(held))
    )
    if not open_items:
        return decided
    positions, usual = _positions(), usual_wait()
    waiting = {
        run: ReviewProgress(is_held=is_held, position=positions.get(run), usual_wait=usual)
        for run, is_held in open_items.items()
        if run is not None
    }
    return {**decided, **waiting}


def usual_wait() -> timedelta | None:
    """The median time from the live queue to a decision, of the newest ones; None where there are too few."""
    newest = _decisions().order_by("-pk").values_list("at", "item__created_at")[:_NEWEST]
    waited = [(at - since).total_seconds() for at, since in newest if at >= since]
    return timedelta(seconds=median(waited)) if len(waited) >= _FEWEST else None


def _positions() -> dict[int, int]:
    """The place of the first runs that wait for a reviewer, in the order in which they are handed out."""
    waiting = (
        Item.objects.waiting()
        .filter(campaign__kind=Campaign.Kind.LIVE)
        .order_by(*URGENT_FIRST)
        .values_list("run_id", flat=True)[:MOST_POSITIONS]
    )
    return {run: place for place, run in enumerate(waiting, start=1)}


def _decisions() -> QuerySet[Decision]:
    return Decision.objects.filter(undone_at=None, item__campaign__kind=Campaign.Kind.LIVE)
