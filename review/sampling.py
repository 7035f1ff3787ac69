"""Derive a campaign's samples and random orders from its seed, so that other installations can reproduce them."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import User

from review.models import Campaign, Case

# All reviewers get the training and gold items, so this is larger than any number of reviewers.
EVERYBODY = 32_767


def seed_of(campaign: Campaign, user: User) -> int:
    """Return a 31-bit seed for a user, derived from the campaign's seed."""
    digest = hashlib.sha256(f"{campaign.seed}:{user.pk}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def shuffle_of(campaign: Campaign, external_id: str) -> int:
    """Return a case's 31-bit sort key for the campaign's random order, derived from the campaign's seed."""
    digest = hashlib.sha256(f"{campaign.seed}:{external_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def overlap_of(campaign: Campaign, *, shuffle: int, purpose: str = Case.Purpose.REAL) -> int:
    """Return the number of reviewers that an item needs. A random share of the items has extra overlap."""
    if purpose in (Case.Purpose.GOLD, Case.Purpose.TRAINING):
        return EVERYBODY
    if campaign.extra_overlap and is_in_share(shuffle, campaign.extra_share, "overlap"):
        return campaign.extra_overlap
    return campaign.overlap


def is_in_share(shuffle: int, percent: int, what: str) -> bool:
    """Return whether an item is in a random sample of this percentage.

    Samples with different `what` are independent.
    """
    digest = hashlib.sha256(f"{what}:{shuffle}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 10_000 < percent * 100
