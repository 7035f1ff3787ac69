"""The order in which a reviewer gets a campaign's items; the first is found without reading the rest.

Random for each reviewer means: ascending by `shuffle XOR seed`, both 31 bits. For each seed that is another
permutation, and reproducible. Items whose shuffle begins with the same bits stay together in it, so the order
is gone through bucket by bucket, each a short range of the index on (campaign, shuffle). If a bucket comes back
empty, the next query reads twice as many, so that a campaign that is nearly done costs a few queries.
"""

from __future__ import annotations

from django.core.cache import cache

from review.models import Assignment, Campaign, Member
from review.queue.eligibility import Candidates

BITS = 31
# `Member.reached` counts in 4096ths of the order, whatever the number of buckets.
_MOST_BITS = 12
_WHOLE = 1 << _MOST_BITS
_BUCKET = 50  # items, about
_PATIENCE = 5


def take_first(candidates: Candidates) -> Assignment | None:
    """Take the first item for this person; None where none is left.

    Items that somebody else is being given at this moment are passed over, unless there are no others.
    """
    if candidates.is_random and candidates.member is not None:
        taken = _take_at_random(candidates, candidates.member)
        if taken is not None:
            return taken
        # Gone through once: what was given back since lies anywhere.
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
        ):  # only from its own multiples on are so many next to each other in the index
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
    """How many leading bits make a bucket: none for a small campaign, at most 12."""
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
        # Nobody starves: the last item may be locked only for the moment of somebody else's claim. Having
        # waited for it, it may be taken, and another one still wait.
        some = candidates.some()
        if not some:
            break
        # Not all for the same one.
        taken = candidates.wait_for(some[(candidates.by.pk + again) % len(some)])
        if taken is not None:
            break
    return taken
