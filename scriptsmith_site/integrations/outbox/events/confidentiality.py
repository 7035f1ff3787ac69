"""The rule for data that may leave the product. Nothing about a study leaves until it is closed.

Verdicts, scores, decisions and runs of an open study could bias its reviewers, as could the fact that it is open. The
rule uses only the campaigns of the objects and nothing that a study hides.
"""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from catalog import services as catalog
from catalog.models import Version
from review.models import Campaign, Item
from scriptsmith_site.integrations.outbox.events.event_types import BY_NAME, TEST
from scriptsmith_site.integrations.outbox.events.subjects import Subject
from scriptsmith_site.models import Event

# A suspension is relevant to safety, so it is sent at once if the entry is known outside.
_MOVES_OF_ENTRIES = ("entry.suspended", "entry.reinstated")


def may_leave(event: Event, subject: Subject | None) -> bool:
    """Return whether the event may be sent to other systems. `subject` is None if its object was deleted."""
    if event.type == TEST:
        return True
    kind = BY_NAME.get(event.type)
    if kind is None or not kind.is_public:
        return False
    if subject is None:
        return True
    if event.type in _MOVES_OF_ENTRIES:
        return is_known_outside(event.object_id)
    if subject.campaign is not None:
        return not _open_studies().filter(pk=subject.campaign).exists()
    return not is_looked_at(subject)


def is_looked_at(subject: Subject) -> bool:
    """Return whether an open study contains a run of the subject.

    If so, its current title must not leave the product.
    """
    return bool(subject.runs) and runs_of_open_studies().filter(run__in=subject.runs).exists()


def is_hidden(version: Version) -> bool:
    """Return whether an open study contains the run of this version or of a version that it is based on."""
    return catalog.is_withheld(version)


def is_known_outside(entry_id: int) -> bool:
    """Return whether an entry may be known outside, because no study hid one of its versions when it was verified.

    Runs added to a study later do not count. The suspension of such an entry reveals nothing about the study.
    """
    for version in Version.objects.filter(entry=entry_id, verified_at__isnull=False):
        looks = runs_of_open_studies().filter(run__in=catalog.runs_behind(version))
        if not looks.filter(created_at__lte=version.verified_at).exists():
            return True
    return False


def studied_among(runs: Collection[int]) -> set[int]:
    """Return the runs that an open study contains. The catalogue calls this hook."""
    found = runs_of_open_studies().filter(run__in=runs)
    return {run for run in found.values_list("run", flat=True) if run is not None}


def runs_of_open_studies() -> QuerySet[Item]:
    """Return the items of studies that are not closed."""
    return Item.objects.filter(campaign__in=_open_studies())


def _open_studies() -> QuerySet[Campaign]:
    studies = Campaign.objects.filter(kind=Campaign.Kind.STUDY)
    return studies.exclude(state=Campaign.State.CLOSED)
