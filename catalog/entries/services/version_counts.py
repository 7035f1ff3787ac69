"""Counts of how often a version was shown, accepted, edited, rejected and used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from catalog import hooks
from catalog.entries.services.uses import TrackRecord, track_records
from catalog.models import MatchLabel, Version


@dataclass(frozen=True, kw_only=True)
class VersionCounts:
    """How often a version was shown, accepted, rejected, edited and used."""

    shown_as_match: int = 0  # shown to requesters
    shown_as_adapt: int = 0
    accepted: int = 0  # labeled as a match by requesters
    rejected: int = 0  # labeled as no match by requesters
    edited: int = 0  # edited by users after it was shown
    record: TrackRecord = TrackRecord()

    def __bool__(self) -> bool:
        return self != VersionCounts()


def counts_of(version_ids: Sequence[int]) -> Mapping[int, VersionCounts]:
    """Return the counts of multiple versions in a fixed number of queries. Versions without counts are omitted."""
    shown = hooks.shown_of(version_ids)
    records = track_records(version_ids)
    asked = MatchLabel.objects.counting().filter(
        version__in=version_ids, picked=MatchLabel.Picked.ASKED
    )
    labels = {
        pk: (accepted, rejected)
        for pk, accepted, rejected in asked.order_by()
        .values_list("version")
        .annotate(
            accepted=Count("pk", filter=Q(label=MatchLabel.Label.MATCH)),
            rejected=Count("pk", filter=Q(label=MatchLabel.Label.NO_MATCH)),
        )
    }
    found = {}
    for pk in {*shown, *records, *labels}:
        seen = shown.get(pk, hooks.Shown())
        accepted, rejected = labels.get(pk, (0, 0))
        found[pk] = VersionCounts(
            shown_as_match=seen.match,
            shown_as_adapt=seen.adapt,
            edited=seen.edited,
            accepted=accepted,
            rejected=rejected,
            record=records.get(pk, TrackRecord()),
        )
    return found


def counts_by_version(versions: Sequence[Version]) -> list[tuple[Version, VersionCounts]]:
    """Return the versions that were ever shown, used or labeled, with their counts."""
    found = counts_of([version.pk for version in versions])
    return [(version, found[version.pk]) for version in versions if version.pk in found]
