"""The one rule for what may leave the product: nothing of a study that is not closed, nor that it was opened.

Verdicts, scores, decisions and runs of such a study would tell reviewers what they must not know, by whatever way they
hear of it. The rule looks at what belongs to which campaign and at nothing that a study hides.
"""

from __future__ import annotations

from django.db.models import QuerySet

from review.models import Campaign, Item
from scriptsmith_site.integrations.outbox.event_types import BY_NAME, TEST
from scriptsmith_site.integrations.outbox.subjects import Subject
from scriptsmith_site.models import Event


def may_leave(event: Event, subject: Subject | None) -> bool:
    """Whether other systems may be sent this event, which is about this; what it is about may be gone."""
    if event.type == TEST:
        return True
    kind = BY_NAME.get(event.type)
    if kind is None or not kind.is_public:
        return False
    if subject is None:
        return True
    if subject.campaign is not None:
        return not _open_studies().filter(pk=subject.campaign).exists()
    return not (subject.runs and runs_of_open_studies().filter(run__in=subject.runs).exists())


def runs_of_open_studies() -> QuerySet[Item]:
    """Items of studies that are not closed."""
    return Item.objects.filter(campaign__in=_open_studies())


def _open_studies() -> QuerySet[Campaign]:
    studies = Campaign.objects.filter(kind=Campaign.Kind.STUDY)
    return studies.exclude(state=Campaign.State.CLOSED)
