"""Decisions of the live queue: approve, edit, reject; on the exact Draft seen, straight into the catalogue."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import services as catalog
from catalog.audit import record
from catalog.models import Version
from catalog.types import BadInput, NotAllowedNow, Stale
from pipeline import services as pipeline
from pipeline.models import Draft
from pipeline.types import DraftKind
from review.desk import Desk, open_desk
from review.leases import check_fence
from review.models import Assignment, Decision, Item, Publication, Score
from review.scoring import holding, rubric_in_force

MAX_REASON = 4_000


@transaction.atomic
def decide(
    item: Item,
    *,
    kind: str,
    draft_sha256: str,
    newest_seen: int,
    by: User,
    reason: str = "",
    edited_script: str = "",
    fence: int | None = None,
) -> Decision:
    """Decide on the Draft with this hash, having seen the run's Drafts up to number `newest_seen`.

    Sent again it changes nothing. Approving an unscored Draft records 2 for it; other stages stay not asked.
    Raises Stale where a newer Draft has come meanwhile, NotAllowedNow for somebody else's or a decided item,
    BadInput for a missing reason, an empty or unchanged edit, or the approval of what was scored below 2.
    """
    if kind not in Decision.Kind.values:
        raise BadInput(_("A decision is approve, edit or reject."), field="kind")
    reason = reason.strip()
    if len(reason) > MAX_REASON:
        raise BadInput(
            _("The reason is longer than %s characters.") % f"{MAX_REASON:,}", field="reason"
        )
    if kind == Decision.Kind.REJECT and not reason:
        raise BadInput(_("Say why it is rejected."), field="reason")
    locked = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign", "run__action")
        .get(pk=item.pk)
    )
    if not locked.campaign.is_live:
        raise NotAllowedNow(_("In a study there are scores and no decisions."))
    desk = open_desk(locked, by)
    if desk.decision is not None:
        if _is_repeat(desk.decision, kind, draft_sha256, reason, edited_script, by):
            return desk.decision
        raise NotAllowedNow(_("%s has already decided this.") % _name(desk.decision.by))
    assignment = holding(desk)
    check_fence(assignment, fence)
    draft = _draft_seen(desk, draft_sha256, newest_seen)
    edited = None
    if kind == Decision.Kind.APPROVE:
        _score_as_approved(desk, draft, assignment)
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
    )
    _close(locked, assignment)
    record(locked, Decision.Kind(kind).label.lower(), by=by, draft=("", draft.number))
    if kind != Decision.Kind.REJECT:
        version = _publish(desk, decision, edited or draft, by=by)
        Publication.objects.create(decision=decision, version=version)
    return decision


def _is_repeat(
    decision: Decision, kind: str, sha256: str, reason: str, script: str, by: User
) -> bool:
    """Whether this very decision was made already, and only the answer to it was lost."""
    same = (decision.by_id, decision.kind, decision.draft_sha256, decision.reason)
    edited = decision.edited.script.strip() if decision.edited else ""
    return same == (by.pk, kind, sha256, reason) and edited in ("", script.strip())


def _draft_seen(desk: Desk, sha256: str, newest_seen: int) -> Draft:
    newest = desk.newest
    if newest is None or newest.number > newest_seen:
        raise Stale(
            _(
                "A newer script has come while you were looking; nothing was decided. Look at it first."
            ),
            newest=newest.number if newest else 0,
        )
    seen = next((draft for draft in desk.drafts if draft.sha256 == sha256), None)
    if seen is None:
        raise BadInput(_("This script is none of this item's."), field="draft")
    return seen


def _score_as_approved(desk: Desk, draft: Draft, assignment: Assignment) -> None:
    stage, arm = _stage_of(desk, draft)
    score = desk.scores.get(f"{stage}-{arm}")
    if score is None:
        Score.objects.create(
            item=desk.item,
            reviewer=desk.reviewer,
            stage=stage,
            arm=arm,
            value=Score.Value.CORRECT,
            draft=draft,
            assignment=assignment,
            blind=not desk.visible["verdict"],
            visible={**desk.visible, "by_approval": True},
            position=assignment.position,
            rubric_id=rubric_in_force(desk.item),
        )
    elif score.value < Score.Value.CORRECT and score.draft_id == draft.pk:
        raise BadInput(
            _(
                "You scored this script %(value)s. Approve another one, edit it, or change the score first."
            )
            % {"value": score.value},
            field="kind",
        )


def _stage_of(desk: Desk, draft: Draft) -> tuple[str, str]:
    refined = (
        draft.kind == DraftKind.REFINED or draft != desk.first and draft.kind != DraftKind.EDITED
    )
    return (Score.Stage.REFINED, draft.arm) if refined else (Score.Stage.SCRIPT, "model")


def _close(item: Item, assignment: Assignment) -> None:
    now = timezone.now()
    changed = Assignment.objects.filter(
        pk=assignment.pk, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
    ).update(state=Assignment.State.SUBMITTED, ended_at=now, lease_until=None)
    if not changed:
        raise NotAllowedNow(_("This item is no longer yours."))
    Item.objects.filter(pk=item.pk).update(state=Item.State.CLOSED, closed_at=now)
    item.scratches.filter(reviewer=assignment.reviewer_id).delete()


def _publish(desk: Desk, decision: Decision, draft: Draft, *, by: User) -> Version:
    run, action = desk.run, desk.run.action
    return catalog.publish(
        statement=action.statement,
        script=draft.script,
        by=by,
        author=draft.author,
        verified=True,
        provenance={
            "origin": "demo model" if run.demo else "pipeline",
            "demo": run.demo,
            "run": run.pk,
            "action": action.pk,
            "draft": draft.number,
            "kind": draft.kind,
            "configuration": run.spec.get("configuration", ""),
            "models": {name: role["model"] for name, role in run.spec.get("roles", {}).items()},
            "verdict": run.verdict,
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
