"""The order in which a reviewer gets a campaign's items. The search finds the first item without reading the rest.

A reviewer's random order is ascending by `shuffle XOR seed`, both 31 bits. Each seed produces a different, reproducible
permutation. Items whose shuffles share their leading bits stay together. The search can therefore read one bucket at a
time. Each bucket is a short range of the index on (campaign, shuffle). After an empty bucket, the next query reads
twice as many buckets, so an almost finished campaign needs few queries.
"""

from __future__ import annotations

from django.core.cache import cache

from review.models import Assignment, Campaign, Member
from review.queue.eligibility import Candidates

BITS = 31
# `Member.reached` is a position in 4096ths of the order, independent of the number of buckets.
_MOST_BITS = 12
_WHOLE = 1 << _MOST_BITS
_BUCKET = 50  # approximate number of items per bucket
_PATIENCE = 5


def take_first(candidates: Candidates) -> Assignment | None:
    """Take the first item for the reviewer, or return None if no items are left.

    Skip items that another claim has locked, unless no other items are left.
    """
    if candidates.is_random and candidates.member is not None:
        taken = _take_at_random(candidates, candidates.member)
        if taken is not None:
            return taken
        # The first pass is finished. Released items can be anywhere in the order, so search the whole campaign.
    return _take_plainly(candidates)


def _take_at_random(candidates: Candidates, member: Member) -> Assignment | None:
    bits = _bits(candidates.campaign)
    if not bits:
        return None
    width, step = BITS - bits, _WHOLE >> bits
    number, many = member.reached // step, 1
    while number < 1 << bits:
        while (
            number % many
        ):  # `many` buckets are contiguous in the index only if they start at a multiple of `many`
            many //= 2
        low = ((number ^ (member.seed >> width)) & -many) << width
        taken = candidates.take_first((low, low + (many << width)))
        if taken is not None:
            _note_reached(member, number * step)
            return taken
        number, many = number + many, many * 2
    _note_reached(member, _WHOLE)
    return None


def _bits(campaign: Campaign) -> int:
    """Return the number of leading bits that identify a bucket, from 0 for a small campaign to 12."""
    items = (
        cache.get_or_set(f"campaign-items-{campaign.pk}", lambda: campaign.items.count(), 60) or 0
    )
    buckets = items // _BUCKET
    return min(_MOST_BITS, buckets.bit_length())


def _note_reached(member: Member, reached: int) -> None:
    if member.reached != reached:
        Member.objects.filter(pk=member.pk).update(reached=reached)


def _take_plainly(candidates: Candidates) -> Assignment | None:
    taken = candidates.take_first()
    for again in range(_PATIENCE if taken is None else 0):
        # The last items may only be locked by other claims, so wait for an item's lock. If the other claim takes that
        # item, another item may still be free, so retry a few times.
        some = candidates.some()
        if not some:
            break
        # Spread the waiting claims over different items.
        taken = candidates.wait_for(some[(candidates.by.pk + again) % len(some)])
        if taken is not None:
            break
    return taken
