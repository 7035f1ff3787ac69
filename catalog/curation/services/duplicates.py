"""Find near-duplicates in the background. Near-duplicates are pairs of entries that may do the same thing."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.models import Entry, NearDuplicate, Version
from catalog.relevance import judge_all
from catalog.retrieval.answers import rivals_of
from catalog.retrieval.scoring import current_scoring
from catalog.types import Answer
from core.audit import record
from core.errors import NotAllowedNow
from core.texts import name_of

LEAST_LIKENESS = 0.5  # lowest probability that one entry of a pair answers the other's title
State = NearDuplicate.State


class Like(NamedTuple):
    """The similarity of another entry to the compared entry."""

    likeness: float
    same_script: bool


def compare_entries(*, limit: int) -> int:
    """Find near-duplicates of up to `limit` new or changed entries. Return how many entries were compared.

    Two entries form a pair if one may answer the other's title, or if they have the same script. Pairs that a curator
    dismissed stay dismissed.
    """
    waiting = list(to_compare().order_by("pk")[:limit])
    for entry in waiting:
        _compare(entry)
    return len(waiting)


def to_compare() -> QuerySet[Entry]:
    """Return the entries that have not been compared since their last change."""
    return Entry.objects.standing().filter(compared_at=None).defer("document")


def dismiss_pair(pair: NearDuplicate, *, by: User) -> None:
    """Dismiss the pair, because the entries do different things."""
    require(by, CURATE)
    if not NearDuplicate.objects.filter(pk=pair.pk, state=State.OPEN).update(
        state=State.DISMISSED, by=by, decided_at=timezone.now()
    ):
        pair.refresh_from_db()
        raise NotAllowedNow(
            _("%(who)s has already reviewed this pair: %(state)s.")
            % {"who": name_of(pair.by), "state": pair.get_state_display().lower()}
        )
    record(pair.first, "not a duplicate", by=by, of=("", pair.second.slug))


def _compare(entry: Entry) -> None:
    """Find similar entries, then store them. The slow search runs outside the transaction."""
    begun = timezone.now()
    found = _alike(entry) if _is_in_use(entry) else {}
    former = NearDuplicate.objects.filter(Q(first=entry) | Q(second=entry), state=State.OPEN)
    # Before deleting a pair, compare in the other direction, because the pair may have been found that way.
    for pair in former.select_related("first", "second"):
        other = pair.second if pair.first_id == entry.pk else pair.first
        if other.pk not in found and (back := _alike(other).get(entry.pk)):
            found[other.pk] = back
    with transaction.atomic():
        for pk, like in found.items():
            NearDuplicate.objects.update_or_create(
                first_id=min(pk, entry.pk),
                second_id=max(pk, entry.pk),
                defaults={"likeness": like.likeness, "same_script": like.same_script},
            )
        former.exclude(Q(first__in=found) | Q(second__in=found)).delete()
        Entry.objects.filter(pk=entry.pk, compared_at=None).update(compared_at=begun)


def _alike(entry: Entry) -> dict[int, Like]:
    found: dict[int, Like] = {}
    rivals = rivals_of(entry.title)
    # The rules exclude entries with different literals, verbs or negations, because such entries are not duplicates.
    lenient = replace(current_scoring(), match_threshold=LEAST_LIKENESS)
    likeness = {
        rivals.version_ids[judged.place]: judged.judgement.confidence
        for judged in judge_all(entry.title, rivals.candidates, lenient)
        if judged.judgement.answer is Answer.MATCH
    }
    others = Version.objects.filter(pk__in=likeness).exclude(entry=entry)
    for pk, version_id in others.values_list("entry", "pk"):
        found[pk] = Like(likeness[version_id], False)
    hashes = entry.versions.exclude(state=Version.State.DEPRECATED).values("sha256")
    twins = (
        Version.objects.filter(sha256__in=hashes, entry__merged_into=None)
        .exclude(state=Version.State.DEPRECATED)
        .exclude(entry=entry)
    )
    for pk in twins.values_list("entry", flat=True):
        found[pk] = Like(1.0, True)
    return found


def _is_in_use(entry: Entry) -> bool:
    return entry.versions.exclude(state=Version.State.DEPRECATED).exists()
