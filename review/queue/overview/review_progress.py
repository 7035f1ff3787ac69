"""Review progress of runs: decisions, positions in the review queue, and the usual waiting time.

The composition root registers these functions with `pipeline.hooks`, because the pipeline must not import the review
app. The pipeline calls the functions only for runs whose verdict the user may see.
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

# Later positions are not calculated, because they only mean a long wait.
MOST_POSITIONS = 200
# The usual wait is based on the newest _NEWEST decisions and requires at least _FEWEST.
_NEWEST, _FEWEST = 50, 5


def mark_reviewed_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Annotate runs with `review_decision`, `review_version` and `review_waits`, without an extra query."""
    live = Item.objects.filter(run=OuterRef("pk"), campaign__kind=Campaign.Kind.LIVE)
    decided = _decisions().filter(item__run=OuterRef("pk"))
    return runs.annotate(
        review_decision=Subquery(decided.values("kind")[:1]),
        review_version=Subquery(decided.values("publication__version__state")[:1]),
        review_waits=Exists(live.filter(state=Item.State.OPEN)),
    )


def describe_reviews(run_ids: Sequence[int]) -> Mapping[int, ReviewProgress]:
    """Return the review progress of these runs, using at most four queries. Runs that were never queued are omitted."""
    decided = {
        one.item.run.pk: ReviewProgress(
            decided_by=one.by.get_full_name() or one.by.get_username(),
            decided_at=one.at,
            reason=one.reason,
            draft=one.edited_id or one.draft_id,
        )
        for one in _decisions().filter(item__run__in=run_ids).select_related("item__run", "by")
        if one.item.run
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
    """Return the median time that items wait for a decision, or None if there are too few decisions."""
    newest = _decisions().order_by("-pk").values_list("at", "item__created_at")[:_NEWEST]
    waited = [(at - since).total_seconds() for at, since in newest if at >= since]
    return timedelta(seconds=median(waited)) if len(waited) >= _FEWEST else None


def _positions() -> dict[int, int]:
    """Map the first waiting runs to their positions in the review queue."""
    waiting = (
        Item.objects.waiting()
        .filter(campaign__kind=Campaign.Kind.LIVE)
        .order_by(*URGENT_FIRST)
        .values_list("run_id", flat=True)[:MOST_POSITIONS]
    )
    return {run: place for place, run in enumerate(waiting, start=1)}


def _decisions() -> QuerySet[Decision]:
    return Decision.objects.filter(undone_at=None, item__campaign__kind=Campaign.Kind.LIVE)
