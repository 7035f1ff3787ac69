"""The one rule for what may leave the product: nothing of a study that is not closed, nor that it was opened.

Verdicts, scores, decisions and runs of such a study would tell reviewers what they must not know, by whatever way they
hear of it. The rule looks at what belongs to which campaign and at nothing that a study hides.
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

# A script that is out of use for now is a fact of safety: it leaves at once where others may know the entry.
_MOVES_OF_ENTRIES = ("entry.suspended", "entry.reinstated")


def may_leave(event: Event, subject: Subject | None) -> bool:
    """Whether other systems may be sent this event, which is about this; what it is about may be gone."""
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
    """Whether a study that is not closed looks at a run behind it: it may leave, but not how it is called by now."""
    return bool(subject.runs) and runs_of_open_studies().filter(run__in=subject.runs).exists()


def is_hidden(version: Version) -> bool:
    """Whether a study that is not closed looks at the run behind it, or behind a version that it was made from."""
    return catalog.is_withheld(version)


def is_known_outside(entry_id: int) -> bool:
    """Whether other systems may have been told of an entry: one version was verified that no study hid by then.

    What a study was given later had left before it; that its entry was suspended tells nothing of the study.
    """
    for version in Version.objects.filter(entry=entry_id, verified_at__isnull=False):
        looks = runs_of_open_studies().filter(run__in=catalog.runs_behind(version))
        if not looks.filter(created_at__lte=version.verified_at).exists():
            return True
    return False


def studied_among(runs: Collection[int]) -> set[int]:
    """Those of these runs that a study looks at which is not closed: the catalogue's hook."""
    found = runs_of_open_studies().filter(run__in=runs)
    return {run for run in found.values_list("run", flat=True) if run is not None}


def runs_of_open_studies() -> QuerySet[Item]:
    """Items of studies that are not closed."""
    return Item.objects.filter(campaign__in=_open_studies())


def _open_studies() -> QuerySet[Campaign]:
    studies = Campaign.objects.filter(kind=Campaign.Kind.STUDY)
    return studies.exclude(state=Campaign.State.CLOSED)
