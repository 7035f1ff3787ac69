"""Counts of the curators' pending work for the home page, excluding verification."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.entries.services import emergencies_to_confirm
from catalog.evidence.services import changed_evidence
from catalog.listing.services import Filters, list_entries
from catalog.models import Entry, NearDuplicate, OutcomeReport, Recheck


@dataclass(frozen=True)
class CurationBacklog:
    """Counts of pending work, and the suspended entries. Entries are not used while they are suspended."""

    emergencies: int  # emergency rollbacks that no second user has confirmed yet
    changed_evidence: int
    newer_findings: int
    near_duplicates: int
    outcome_reports: int  # reports from programs about worse outcomes
    never_again: int  # verified once and never again
    long_ago: int  # verified more than 180 days ago
    suspended: list[Entry]


def read_curation_backlog(*, most: int) -> CurationBacklog:
    """Return the current counts and up to `most` suspended entries, newest first, in eight queries."""
    listed = Entry.objects.standing()
    suspended = (
        Entry.objects.standing()
        .exclude(suspended_at=None)
        .defer("document")
        .order_by("-suspended_at")[:most]
    )
    return CurationBacklog(
        emergencies=emergencies_to_confirm().order_by().count(),
        changed_evidence=changed_evidence().count(),
        newer_findings=Recheck.objects.to_look_at().count(),
        near_duplicates=NearDuplicate.objects.to_look_at().count(),
        outcome_reports=OutcomeReport.objects.to_look_at().order_by().count(),
        never_again=list_entries(Filters(age="once"), among=listed).count(),
        long_ago=list_entries(Filters(age="old180"), among=listed).count(),
        suspended=list(suspended),
    )
