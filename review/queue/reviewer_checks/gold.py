"""Cases with known answers. Gold cases secretly measure reviewers. Training cases are shown first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from review.models import Assignment, Campaign, Case, Item, Score, TallyDue
from review.sampling import overlap_of

MAX_WHY = 4_000
KNOWN = (Case.Purpose.GOLD, Case.Purpose.TRAINING)


@transaction.atomic
def mark_case(case: Case, purpose: str, *, known: Mapping[str, object], by: User) -> None:
    """Set the purpose of a case and its correct scores. Gold and training items go to every reviewer.

    Raises BadInput for invalid or missing known answers, and NotAllowedNow if an item of the case has been assigned.
    """
    if purpose not in (*KNOWN, Case.Purpose.REAL):
        raise BadInput(_("Unknown purpose."), field="purpose")
    known = _check_known(known) if purpose in KNOWN else {}
    if purpose in KNOWN and "script" not in known:
        raise BadInput(_("Enter at least the correct score for the script."), field="script")
    locked = Case.objects.select_for_update().select_related("campaign").get(pk=case.pk)
    items = list(locked.items.all())
    if locked.repeats_id:
        raise NotAllowedNow(
            _(
                "This item repeats another item to check its reviewers. Its purpose can't be changed."
            )
        )
    touched = Item.objects.filter(case=locked, assignments__isnull=False).exists()
    if touched and purpose != locked.purpose:
        raise NotAllowedNow(
            _("A reviewer has already claimed this item. Its purpose can't be changed.")
        )
    before = locked.purpose
    locked.purpose, locked.known = purpose, known
    locked.save(update_fields=["purpose", "known"])
    if purpose != before:
        for item in items:
            item.overlap = overlap_of(locked.campaign, shuffle=item.shuffle, purpose=purpose)
            item.places = item.overlap if item.state != Item.State.CLOSED else 0
            item.save(update_fields=["overlap", "places"])
    TallyDue.objects.bulk_create(TallyDue(item=one, campaign=locked.campaign) for one in items)
    cache.delete(_training_key(locked.campaign))
    record(locked, "purpose set", by=by, purpose=(before, purpose))


def begins_with_training(campaign: Campaign) -> bool:
    """Return whether the campaign has training items. The result is cached for 30 s, because every claim needs it."""

    def is_any() -> bool:
        return campaign.cases.filter(purpose=Case.Purpose.TRAINING).exists()

    return bool(cache.get_or_set(_training_key(campaign), is_any, 30))


def _training_key(campaign: Campaign) -> str:
    return f"campaign-training-{campaign.pk}"


def gold_scores(campaign: Campaign) -> dict[int, tuple[int, int]]:
    """Return the numbers of correct and total gold scores, by reviewer. Only managers may see them."""
    rows = Score.objects.filter(
        item__campaign=campaign, item__case__purpose=Case.Purpose.GOLD, current=True, arm="model"
    ).values_list("reviewer", "stage", "value", "item__case__known")
    right: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    for reviewer, stage, value, known in rows:
        if stage in known:
            asked[reviewer] += 1
            right[reviewer] += value == known[stage]
    return {reviewer: (right[reviewer], number) for reviewer, number in asked.items()}


def note_trained(item: Item, user: User) -> None:
    """Record that a reviewer has completed the training if no training items are left."""
    if item.case.purpose != Case.Purpose.TRAINING:
        return
    submitted = Assignment.objects.filter(
        item=OuterRef("pk"), reviewer=user, state=Assignment.State.SUBMITTED
    )
    left = item.campaign.items.filter(
        ~Exists(submitted), case__purpose=Case.Purpose.TRAINING, state=Item.State.OPEN
    )
    if not left.exists():
        item.campaign.members.filter(user=user, trained_at=None).update(trained_at=timezone.now())


def _check_known(known: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for stage in Score.Stage.values:
        value = known.get(stage)
        if value is None:
            continue
        if value not in Score.Value.values or isinstance(value, bool):
            raise BadInput(_("The score must be 0, 1 or 2."), field=stage)
        found[stage] = value
    why = known.get("why")
    if isinstance(why, str) and why.strip():
        if len(why) > MAX_WHY:
            raise BadInput(_("Enter at most %s characters.") % f"{MAX_WHY:,}", field="why")
        found["why"] = why.strip()
    return found
