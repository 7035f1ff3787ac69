"""Store decisions in the review queue: approve, edit or reject a Draft. Approved scripts are saved in the catalogue.

The selected score, the typed comment and the decision are stored in one transaction.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import services as catalog
from catalog.models import Version
from core.audit import record
from core.errors import BadInput, NotAllowedNow
from pipeline import services as pipeline
from pipeline.execution.draft_checks import is_serious
from pipeline.models import Draft
from review.blinding.item_queries import lock_decided
from review.blinding.item_view import ItemView, Step, assessment_of, open_item
from review.desk.decision.decision_score import PendingScore, ScoreForm, read_score_form
from review.desk.scores import ScoreInput, add_time, held_assignment, make_score
from review.desk.shown_drafts import draft_shown, steps_shown
from review.hooks import notify_decision_made
from review.models import Assignment, Decision, Item, Publication, Score
from review.queue.assignment_leases import check_fence

MAX_REASON = 4_000


@transaction.atomic
def decide(
    item: Item,
    *,
    kind: str,
    draft_sha256: str,
    shown: str,
    by: User,
    picked: ScoreForm | None = None,
    reason: str = "",
    edited_script: str = "",
    fence: int | None = None,
) -> Decision:
    """Store the reviewer's decision on the Draft with this hash, together with the selected score.

    `shown` is the token of the reviewer's page. Approving a Draft without a score records a score of 2. Other stages
    remain unscored. Repeating the call changes nothing.

    Raises BadInput for a missing reason, an empty or unchanged edit, or a token of another user or item. Also raises
    BadInput if the approved Draft has a selected or saved score of 0 or 1. Raises Stale if the visible texts have
    changed since the page was loaded. Raises NotAllowedNow if another reviewer has claimed or already decided the item,
    or if the page does not show all autosaved text (see `read_score_form`).
    """
    reason = _checked_reason(kind, reason)
    (locked,) = lock_decided(item.pk, by.pk)
    if not locked.campaign.is_live:
        raise NotAllowedNow(_("Study items are only scored, not approved or rejected."))
    desk = open_item(locked, by)
    if desk.decision is not None:
        if _is_repeat(desk.decision, kind, draft_sha256, reason, edited_script, by, picked):
            return desk.decision
        raise NotAllowedNow(_("%s has already decided this item.") % _name(desk.decision.by))
    assignment = held_assignment(desk)
    check_fence(assignment, fence)
    draft = draft_shown(desk, sha256=draft_sha256, token=shown)
    target = steps_shown(desk)[draft.pk]
    pick = read_score_form(desk, picked, target=target)
    scores = _scores_with(
        desk, pick, assignment, target=target, approves=kind == Decision.Kind.APPROVE
    )
    if kind == Decision.Kind.APPROVE and not reason and is_serious(desk.findings[draft.pk]):
        raise BadInput(
            _("This script is high risk. Enter a reason why it is safe to approve."),
            field="reason",
        )
    add_time(assignment, pick.step, pick.given(0))
    for score in scores:
        score.save(force_insert=True)
    edited = None
    if kind == Decision.Kind.EDIT:
        edited = pipeline.add_edited_draft(draft, script=edited_script, by=by)
    decision = Decision.objects.create(
        item=locked,
        draft=draft,
        draft_sha256=draft.sha256,
        kind=kind,
        edited=edited,
        by=by,
        reason=reason,
        picked=pick.as_kept(),
        scores=[score.pk for score in scores],
    )
    _close(desk, assignment)
    because = {"reason": ("", reason[:200])} if reason else {}
    record(locked, Decision.Kind(kind).label.lower(), by=by, draft=("", draft.number), **because)
    if kind != Decision.Kind.REJECT:
        version = _publish(desk, decision, edited or draft, by=by)
        Publication.objects.create(decision=decision, version=version)
    notify_decision_made(decision.pk)
    return decision


def _checked_reason(kind: str, reason: str) -> str:
    if kind not in Decision.Kind.values:
        raise BadInput(_("The decision must be approve, edit or reject."), field="kind")
    reason = reason.strip()
    if len(reason) > MAX_REASON:
        raise BadInput(
            _("The reason is longer than %s characters.") % f"{MAX_REASON:,}", field="reason"
        )
    if kind == Decision.Kind.REJECT and not reason:
        raise BadInput(_("Enter a reason for rejecting the script."), field="reason")
    return reason


def _is_repeat(
    decision: Decision,
    kind: str,
    sha256: str,
    reason: str,
    script: str,
    by: User,
    picked: ScoreForm | None,
) -> bool:
    """Return whether the request repeats a stored decision because its response was lost."""
    same = (decision.by_id, decision.kind, decision.draft_sha256, decision.reason)
    edited = decision.edited.script.strip() if decision.edited else ""
    kept = decision.picked
    return (
        same == (by.pk, kind, sha256, reason)
        and edited in ("", script.strip())
        and (picked is None or picked.value in (None, kept.get("value")))
        and (picked is None or (picked.comment or "").strip() in ("", kept.get("comment")))
    )


def _scores_with(
    desk: ItemView, pick: PendingScore, assignment: Assignment, *, target: Step, approves: bool
) -> list[Score]:
    """Return the scores to store with the decision: the selected score and the score of 2 that an approval records.

    A selected score that is already stored with the same value and comment is excluded.
    """
    before = desk.scores.get(target.key)
    value = before.value if before else None
    if pick.step == target and pick.value is not None:
        value = pick.value
    if approves and value is not None and value < Score.Value.CORRECT:
        raise BadInput(_refusal(value, is_scored=pick.value is None), field="kind")
    scores = []
    if pick.value is not None and not _is_scored(desk, pick):
        scores.append(make_score(desk, pick.step, pick.given(pick.value), assignment))
    if approves and value is None:
        given = ScoreInput(stage=target.stage, arm=target.arm, value=2, seen=0)
        if pick.step == target:
            given = pick.given(Score.Value.CORRECT)
        score = make_score(desk, target, given, assignment)
        score.visible["by_approval"] = True
        scores.append(score)
    return scores


def _is_scored(desk: ItemView, pick: PendingScore) -> bool:
    score = desk.scores.get(pick.step.key)
    return score is not None and (score.value, score.comment) == (pick.value, pick.comment)


def _refusal(value: int, *, is_scored: bool) -> str:
    if is_scored:
        return _(
            "You scored this script %(value)s. Approve another script, edit this one, or change the score first."
        ) % {"value": value}
    return _(
        "You scored this script %(value)s, but only a correct script (2) can be approved. Change the "
        "score to 2, or edit or reject the script."
    ) % {"value": value}


def _close(desk: ItemView, assignment: Assignment) -> None:
    """Complete the item. The autosaved text is not deleted, because undo may restore it."""
    now = timezone.now()
    changed = Assignment.objects.filter(
        pk=assignment.pk, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).update(
        state=Assignment.State.SUBMITTED,
        ended_at=now,
        lease_until=None,
        active_seconds=assignment.active_seconds,
        pauses=assignment.pauses,
    )
    if not changed:
        raise NotAllowedNow(_("This item is no longer assigned to you."))
    Item.objects.filter(pk=desk.item.pk).update(state=Item.State.CLOSED, closed_at=now)


def _publish(desk: ItemView, decision: Decision, draft: Draft, *, by: User) -> Version:
    run, action = desk.run, desk.run.action
    return catalog.publish(
        statement=action.statement,
        script=draft.script,
        by=by,
        author=draft.author,
        asked_by=action.asked_by,
        verified=True,
        reason=decision.reason,
        provenance={
            "origin": "demo model" if run.demo else "pipeline",
            "demo": run.demo,
            "run": run.pk,
            "action": action.pk,
            "draft": draft.number,
            "kind": draft.kind,
            "configuration": run.spec.get("configuration", ""),
            "models": {name: role["model"] for name, role in run.roles.items()},
            # The verdict on this script. The run's verdict is about its first Draft. An edited script has no verdict.
            "verdict": assessment.verdict if (assessment := assessment_of(draft)) else "",
            "scores": {
                key: score.value
                for key, score in (
                    (f"{score.stage}-{score.arm}", score)
                    for score in desk.item.scores.filter(current=True, reviewer=by)
                )
            },
            "decision": decision.pk,
            "decided": decision.kind,
            "approver": by.username,
            "edited_by": draft.author.username if draft.author else "",
        },
    )


def _name(user: User) -> str:
    return user.get_full_name() or user.username
