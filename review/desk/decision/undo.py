"""Undo a reviewer's last score, decision or skip within the campaign's edit window. Rows are marked, not deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import services as catalog
from core.audit import record
from core.errors import NotAllowedNow
from review.blinding.item_view import open_item
from review.desk.scores import finish
from review.models import Assignment, Campaign, Decision, Item, Score, Scratch
from review.queue.assignment_leases import lease_end, lock_item_row
from review.queue.copied_scores import take_back_copies


def undo_last(campaign: Campaign, *, by: User) -> Item:
    """Undo the user's last score, decision or skip in the campaign, and return the affected item.

    The item is assigned to the user again.

    Raises NotAllowedNow if there is nothing to undo, the edit window has passed, or the item has since changed.
    """
    since = timezone.now() - timedelta(minutes=campaign.edit_minutes)
    score = (
        Score.objects.filter(
            reviewer=by, item__campaign=campaign, current=True, assignment__isnull=False
        )
        .exclude(visible__has_key="copied_from")
        .order_by("-pk")
        .first()
    )
    decision = (
        Decision.objects.filter(by=by, item__campaign=campaign, undone_at=None)
        .order_by("-pk")
        .first()
    )
    skip = (
        Assignment.objects.filter(
            reviewer=by,
            item__campaign=campaign,
            state__in=Assignment.PASSED_OVER,
            ended_at__gte=since,
        )
        .order_by("-ended_at", "-pk")
        .first()
    )
    last = max((one.at for one in (score, decision) if one is not None), default=since)
    if skip is not None and skip.ended_at is not None and skip.ended_at >= last:
        return _undo_skip(skip, by=by)
    if decision is not None and (score is None or decision.at >= score.at):
        return _undo_decision(decision, since=since, by=by)
    if score is None or score.at < since:
        raise NotAllowedNow(_("There is nothing to undo."))
    return _undo_score(score, by=by)


@transaction.atomic
def _undo_score(score: Score, *, by: User) -> Item:
    item = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign", "case", "run__action")
        .get(pk=score.item_id)
    )
    desk = open_item(item, by)
    assignment = desk.assignment
    if assignment is None or (item.campaign.is_live and item.state != Item.State.OPEN):
        raise NotAllowedNow(_("This item is no longer assigned to you."))
    before = _take_back(score, desk.given)
    desk.drop(score, before)
    record(item, "score taken back", by=by, value=(score.value, before.value if before else ""))
    take_back_copies(score)
    if item.campaign.is_live:
        _hold_again(assignment)
    else:
        finish(desk, assignment)
    return item


def _take_back(score: Score, given: list[Score]) -> Score | None:
    """Withdraw the score, make the previous score for its stage current, and return the previous score or None."""
    changed = Score.objects.filter(pk=score.pk, current=True).update(
        current=False, undone_at=timezone.now()
    )
    if not changed:
        raise NotAllowedNow(_("This has already been undone."))
    same = [one for one in given if (one.stage, one.arm) == (score.stage, score.arm)]
    before = next((one for one in reversed(same) if one.pk < score.pk and not one.undone_at), None)
    if before is not None:
        Score.objects.filter(pk=before.pk).update(current=True)
    return before


@transaction.atomic
def _undo_decision(decision: Decision, *, since: datetime, by: User) -> Item:
    if decision.at < since:
        raise NotAllowedNow(_("This decision is too old to undo."))
    item = Item.objects.select_for_update().get(pk=decision.item_id)
    changed = Decision.objects.filter(pk=decision.pk, undone_at=None).update(
        undone_at=timezone.now(), undone_by=by
    )
    if not changed:
        raise NotAllowedNow(_("This has already been undone."))
    publication = getattr(decision, "publication", None)
    if publication is not None:
        catalog.withdraw(
            publication.version,
            decision=decision.pk,
            by=by,
            reason=_("The approval was undone."),
        )
    Item.objects.filter(pk=item.pk).update(state=Item.State.OPEN, closed_at=None)
    _hold_again(item.assignments.get(reviewer=by, state=Assignment.State.SUBMITTED))
    # Also withdraw the scores that were stored with the decision, and restore their form fields.
    given = list(Score.objects.filter(item=item, reviewer=by).order_by("pk"))
    for score in given:
        if score.pk in decision.scores and score.current:
            _take_back(score, given)
    _put_back(decision)
    record(item, "decision taken back", by=by, decision=(decision.get_kind_display(), ""))
    return item


@transaction.atomic
def _undo_skip(assignment: Assignment, *, by: User) -> Item:
    lock_item_row(assignment.item_id)
    # Another reviewer may have claimed the free place.
    if not Item.objects.filter(pk=assignment.item_id, state=Item.State.OPEN, places__gt=0).update(
        places=F("places") - 1
    ):
        raise NotAllowedNow(_("Another reviewer has claimed this item since then."))
    reason, assignment.why = assignment.why, ""
    _hold_again(assignment)
    assignment.save(update_fields=["why"])
    item = Item.objects.select_related("campaign").get(pk=assignment.item_id)
    record(item, "skip taken back", by=by, reason=(reason, ""))
    return item


def _put_back(decision: Decision) -> None:
    """Restore the submitted form fields of the decision. Other autosaved fields are not changed."""
    fields: dict[str, object] = {}
    if step := decision.picked.get("step"):
        value, comment = decision.picked["value"], decision.picked["comment"]
        fields = {f"comment-{step}": comment, f"value-{step}": "" if value is None else str(value)}
    if decision.reason:
        is_rejected = decision.kind == Decision.Kind.REJECT
        fields["reason" if is_rejected else "risk_reason"] = decision.reason
    if decision.edited is not None:
        fields["script"] = decision.edited.script
    scratch, _created = Scratch.objects.select_for_update().get_or_create(
        item_id=decision.item_id, reviewer_id=decision.by_id
    )
    scratch.fields = {**scratch.fields, **fields}
    scratch.revision += 1
    scratch.saved_at = timezone.now()
    scratch.save(update_fields=["fields", "revision", "saved_at"])


def _hold_again(assignment: Assignment) -> None:
    assignment.state, assignment.ended_at = Assignment.State.ACTIVE, None
    assignment.lease_until = lease_end()
    assignment.save(update_fields=["state", "ended_at", "lease_until"])
