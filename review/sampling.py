"""Samples and random orders of a campaign, drawn from its seed: the same every time, and reproducible elsewhere."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import User

from review.models import Campaign, Case

# Training and gold items are for everybody: more places than there will ever be reviewers.
EVERYBODY = 32_767


def seed_of(campaign: Campaign, user: User) -> int:
    """31 bits from the campaign's seed and the person: the same every time, and different for each person."""
    digest = hashlib.sha256(f"{campaign.seed}:{user.pk}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def shuffle_of(campaign: Campaign, external_id: str) -> int:
    """31 bits from the campaign's seed and the case: where an item stands in the random order."""
    digest = hashlib.sha256(f"{campaign.seed}:{external_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def overlap_of(campaign: Campaign, *, shuffle: int, purpose: str = Case.Purpose.REAL) -> int:
    """How many reviewers an item wants: a share of them, chosen by the random order, more than the rest."""
    if purpose in (Case.Purpose.GOLD, Case.Purpose.TRAINING):
        return EVERYBODY
    if campaign.extra_overlap and is_in_share(shuffle, campaign.extra_share, "overlap"):
        return campaign.extra_overlap
    return campaign.overlap


def is_in_share(shuffle: int, percent: int, what: str) -> bool:
    """Whether an item belongs to a random share; shares for different ends are drawn independently."""
    digest = hashlib.sha256(f"{what}:{shuffle}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 10_000 < percent * 100
