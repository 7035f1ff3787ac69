"""In which order a person meets the items of a campaign; the first of them is found without reading the rest.

Random for each reviewer means: ascending by `shuffle XOR seed`, both 31 bits. For each seed that is another
permutation, and reproducible. Items whose shuffle begins with the same bits stay together in it, so the order
is gone through bucket by bucket, each a short range of the index on (campaign, shuffle).
"""

from __future__ import annotations

from django.core.cache import cache
from django.db.models import F, QuerySet

from review.models import Campaign, Item, Member

BITS = 31
# `Member.reached` counts in 256ths of the order, whatever the number of buckets.
_WHOLE = 256
_BUCKET = 400  # items, about
_PATIENCE = 5


def first_in_order(
    waiting: QuerySet[Item], campaign: Campaign, member: Member | None
) -> Item | None:
    """The locked first item for this person, or None where none is left; `waiting` is what they may take.

    Items that somebody else is being given at this moment are passed over, unless there are no others.
    """
    if campaign.order == Campaign.Order.RANDOM and member is not None:
        return _first_at_random(waiting, campaign, member)
    by = ("-priority", "pk") if campaign.order == Campaign.Order.PRIORITY else ("pk",)
    return _first(waiting.order_by(*by))


def _first_at_random(waiting: QuerySet[Item], campaign: Campaign, member: Member) -> Item | None:
    ordered = waiting.annotate(place=F("shuffle").bitxor(member.seed)).order_by("place", "pk")
    bits = _bits(campaign)
    width, step = BITS - bits, _WHOLE >> bits
    for number in range(member.reached // step, 1 << bits if bits else 0):
        bucket = number ^ (member.seed >> width)
        low = bucket << width
        item = _first(ordered.filter(shuffle__gte=low, shuffle__lt=low + (1 << width)), wait=False)
        if item is not None:
            _note_reached(member, number * step)
            return item
    if bits:
        _note_reached(member, _WHOLE)
    # Gone through once: what was given back since lies anywhere.
    return _first(ordered)


def _bits(campaign: Campaign) -> int:
    """How many leading bits make a bucket: none for a small campaign, at most 8."""
    items = cache.get_or_set(f"campaign-items-{campaign.pk}", campaign.items.count, 60) or 0
    buckets = items // _BUCKET
    return min(8, buckets.bit_length())


def _note_reached(member: Member, reached: int) -> None:
    if member.reached != reached:
        Member.objects.filter(pk=member.pk).update(reached=reached)


def _first(waiting: QuerySet[Item], *, wait: bool = True) -> Item | None:
    found = waiting.select_for_update(skip_locked=True, of=("self",)).first()
    for _again in range(_PATIENCE if wait and found is None else 0):
        # Nobody starves: the last item may be locked only for the moment of somebody else's claim. Having
        # waited for it, it may be taken, and another one still wait.
        found = waiting.select_for_update(of=("self",)).first()
        if found is not None or not waiting.exists():
            break
    return found
