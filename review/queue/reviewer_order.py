"""In which order a person meets the items of a campaign; the first of them is found without reading the rest.

Random for each reviewer means: ascending by `shuffle XOR seed`, both 31 bits. For each seed that is another
permutation, and reproducible. Items whose shuffle begins with the same bits stay together in it, so the order
is gone through bucket by bucket, each a short range of the index on (campaign, shuffle). Behind an empty one
twice as many are looked through at once, so that a campaign that is nearly done costs a few queries.
"""

from __future__ import annotations

from django.core.cache import cache

from review.models import Assignment, Campaign, Member
from review.queue.eligibility import Line

BITS = 31
# `Member.reached` counts in 4096ths of the order, whatever the number of buckets.
_MOST_BITS = 12
_WHOLE = 1 << _MOST_BITS
_BUCKET = 50  # items, about
_PATIENCE = 5


def take_first(line: Line) -> Assignment | None:
    """Take the first item for this person; None where none is left.

    Items that somebody else is being given at this moment are passed over, unless there are no others.
    """
    if line.is_random and line.member is not None:
        taken = _take_at_random(line, line.member)
        if taken is not None:
            return taken
        # Gone through once: what was given back since lies anywhere.
    return _take_plainly(line)


def _take_at_random(line: Line, member: Member) -> Assignment | None:
    bits = _bits(line.campaign)
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
        taken = line.take_first((low, low + (many << width)))
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


def _take_plainly(line: Line) -> Assignment | None:
    taken = line.take_first()
    for again in range(_PATIENCE if taken is None else 0):
        # Nobody starves: the last item may be locked only for the moment of somebody else's claim. Having
        # waited for it, it may be taken, and another one still wait.
        some = line.some()
        if not some:
            break
        # Not all for the same one.
        taken = line.wait_for(some[(line.by.pk + again) % len(some)])
        if taken is not None:
            break
    return taken
