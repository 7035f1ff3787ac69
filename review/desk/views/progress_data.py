"""A reviewer's position in a campaign ("3 of 32"), and the number of items that returned to the reviewer."""

from __future__ import annotations

from dataclasses import dataclass

from review.blinding.item_view import ItemView
from review.queue import services as queue


@dataclass(frozen=True)
class Progress:
    """The progress in the header of the score panel."""

    number: int | None  # position of the item in view among the reviewer's items
    total: int | None  # computed for full pages only; None leaves the number on the page unchanged
    is_more: bool  # True if there are more items than `total`
    back: int
    back_item: int | None


def show_progress(desk: ItemView, *, whole: bool) -> Progress:
    """Return the progress. With `whole`, also count the items for the total."""
    campaign, reviewer = desk.item.campaign, desk.reviewer
    place = queue.own_place(campaign, reviewer, beside=desk.item.pk, assignment=desk.assignment)
    total, is_more = None, False
    if whole:
        # A study's total must not change while the reviewer works. The review queue has no fixed total.
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
