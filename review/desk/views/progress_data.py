"""A reviewer's position in their campaign ("3 of 32"), and the items that came back to them."""

from __future__ import annotations

from dataclasses import dataclass

from review.blinding.item_view import ItemView
from review.queue import services as queue


@dataclass(frozen=True)
class Progress:
    """The progress in the header of the score panel."""

    number: int | None  # of the item in view, among those assigned to the reviewer
    total: int | None  # counted for a whole page only; None leaves the page's number unchanged
    is_more: bool  # whether counting stopped at the total
    back: int
    back_item: int | None


def show_progress(desk: ItemView, *, whole: bool) -> Progress:
    """Return the progress. A whole page needs one more query, and a study a few more."""
    campaign, reviewer = desk.item.campaign, desk.reviewer
    place = queue.own_place(campaign, reviewer, beside=desk.item.pk, assignment=desk.assignment)
    total, is_more = None, False
    if whole:
        # A study has a fixed end, which must not move while the reviewer works. The review queue has no end.
        if campaign.is_live:
            most = queue.MOST_COUNTED + 1
            left = queue.count_waiting_for(campaign, reviewer, most=most)
            is_more = left == most
            left += queue.count_held(campaign, reviewer)
            total = queue.count_today(campaign, reviewer) + left - is_more
        else:
            waiting = queue.count_waiting_for(campaign, reviewer)
            total = queue.count_given(campaign, reviewer) + waiting
    return Progress(
        number=place.number,
        total=total,
        is_more=is_more,
        back=place.back,
        back_item=place.back_item,
    )
