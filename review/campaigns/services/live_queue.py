"""Send items of a closed study to the review queue, where a reviewer decides on their scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline.models import Draft, Run
from review.campaigns.services.editing import MOST_AT_ONCE
from review.models import Campaign, Item
from review.queue.intake import send_to_queue


@dataclass(frozen=True)
class Sent:
    """The numbers of chosen items by result. The numbers add up to the number of chosen items.

    `there` counts items that were already in the review queue. `without` counts items without a script. `studied`
    counts items in another study that is not closed.
    """

    made: int
    there: int
    without: int
    studied: int


@transaction.atomic
def send_to_live_queue(campaign: Campaign, items: Sequence[Item], *, by: User) -> Sent:
    """Add the runs of these items to the review queue, except runs that are already in the queue.

    Scores from the review queue are never used in the study. Raises NotAllowedNow if the study is not closed, because a
    decision could influence its reviewers. Raises BadInput if no items or too many items are chosen.
    """
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if locked.state != Campaign.State.CLOSED:
        raise NotAllowedNow(
            _(
                "Close the study first. A decision would show the study's reviewers what others think."
            )
        )
    if not items:
        raise BadInput(_("Select the items to send."), field="item")
    if len(items) > MOST_AT_ONCE:
        raise BadInput(_("Select up to %s items.") % f"{MOST_AT_ONCE:,}", field="item")
    runs = {one.run_id for one in items if one.run_id}
    there, studied = runs_in_queue(runs), _studied(runs)
    ready = _with_script(runs) - there - studied
    made = {run.pk for run in Run.objects.filter(pk__in=ready).order_by("pk") if send_to_queue(run)}
    if made:
        record(campaign, "items sent to the review queue", by=by, items=("", len(made)))
    # Another process may have added some of the runs in the meantime.
    there |= ready - made
    return Sent(
        made=len(made),
        there=sum(one.run_id in there for one in items),
        studied=sum(one.run_id in studied - there for one in items),
        without=sum(one.run_id not in made | there | studied for one in items),
    )


def runs_in_queue(runs: Iterable[int]) -> set[int]:
    """Return the primary keys of the runs that have an item in the review queue."""
    live = Item.objects.filter(campaign__kind=Campaign.Kind.LIVE, run__in=list(runs))
    return {run for run in live.values_list("run", flat=True) if run is not None}


def _studied(runs: Iterable[int]) -> set[int]:
    """Return the primary keys of runs in a study that is not closed, whose reviewers must not see decisions on them."""
    studied = Item.objects.filter(campaign__kind=Campaign.Kind.STUDY, run__in=list(runs))
    under_way = studied.exclude(campaign__state=Campaign.State.CLOSED)
    return {run for run in under_way.values_list("run", flat=True) if run is not None}


def _with_script(runs: Iterable[int]) -> set[int]:
    """Return the primary keys of the finished runs that have a script."""
    drafts = Draft.objects.filter(run__in=list(runs), run__state=Run.State.DONE)
    return set(drafts.order_by().values_list("run", flat=True).distinct())
