"""Services to edit a draft, request its refinement, and use it before review."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.analysis import UnreadableScript, analyse
from catalog.models import ToolRule, Version
from core.audit import record
from core.errors import BadInput, NotAllowedNow
from core.texts import check_text
from pipeline import hooks
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import Draft, DraftUse, Feedback, Refinement, Run
from pipeline.runs.answers import with_answer_status
from pipeline.runs.services.lifecycle import enqueue_run
from pipeline.runs.services.secrets import settle_feedback_secrets
from pipeline.types import AnswerStatus, Arm, DraftKind, SecretsChoice

MAX_SCRIPT = 1_000_000
MAX_FEEDBACK = 8_000


@transaction.atomic
def add_edited_draft(parent: Draft, *, script: str, by: User) -> Draft:
    """Store a user's edit as a new Draft of the same Run, with its static findings. Raises BadInput."""
    script = check_text(script, field="script", most=MAX_SCRIPT)
    if not script.strip():
        raise BadInput(_("The script is empty."), field="script")
    if script == parent.script:
        raise BadInput(_("The script was not changed."), field="script")
    try:
        report = analyse(script, ToolRule.objects.in_force())
    except UnreadableScript as error:
        raise BadInput(str(error), field="script") from error
    run = Run.objects.select_for_update().get(pk=parent.run_id)
    last = run.drafts.order_by("-number").values_list("number", flat=True).first() or 0
    draft = Draft.objects.create(
        run=run,
        number=last + 1,
        kind=DraftKind.EDITED.value,
        script=script,
        sha256=Version.hash_of(script),
        round=parent.round,
        parent=parent,
        author=by,
        arm=parent.arm,
    )
    keep_findings(draft, report)
    return draft


@transaction.atomic
def ask_refinement(
    draft: Draft,
    *,
    by: User | None,
    feedback: str = "",
    based_on: Feedback | None = None,
    secrets: SecretsChoice | None = SecretsChoice.MASK,
) -> Refinement:
    """Request a rewrite of a finished Run's Draft, based on feedback from an expert or the model.

    `secrets` says how to handle secrets in the feedback. If it is None, the author must choose first. Raises
    NotAllowedNow if the Run has not finished or the rewrite was already requested, and SecretsFound.
    """
    run = Run.objects.select_for_update().get(pk=draft.run_id)
    if run.finished_at is None:
        raise NotAllowedNow(_("This run has not finished yet."))
    given = None
    if feedback.strip():
        text = check_text(feedback, field="feedback", most=MAX_FEEDBACK).strip()
        given = Feedback.objects.create(
            draft=draft,
            arm=Arm.EXPERT.value,
            round=1,
            text=text,
            author=by,
            based_on=based_on,
            words=len(text.split()),
            points=sum(1 for line in text.splitlines() if line.strip()),
        )
    elif (
        draft.feedbacks.filter(arm=Arm.MODEL.value).exists()
        or draft.refinements.filter(feedback=None).exclude(state=Refinement.State.FAILED).exists()
    ):
        raise NotAllowedNow(
            _("The model's feedback on this script already exists or is in progress.")
        )
    refinement = Refinement.objects.create(run=run, draft=draft, feedback=given, asked_by=by)
    if given is not None:
        settle_feedback_secrets(refinement, given.text, secrets, by=by)
    if run.state != Run.State.RUNNING:
        run.state, run.not_before = Run.State.QUEUED, None
        run.save(update_fields=["state", "not_before"])
    enqueue_run(run)
    return refinement


@transaction.atomic
def use_unreviewed(draft: Draft, *, reason: str, by: User) -> DraftUse:
    """Record a user's use of an unverified script, with the reason (break-glass).

    Raises BadInput without a reason, and NotAllowedNow if the script was rejected or withdrawn.
    """
    reason = check_text(reason, field="reason", most=2_000).strip()
    if not reason:
        raise BadInput(_("Explain why this can't wait for a review."), field="reason")
    run = with_answer_status(by, Run.objects.filter(pk=draft.run_id)).get()
    decided = AnswerStatus(run.answer_status)  # type: ignore[attr-defined]
    if decided == AnswerStatus.REJECTED:
        raise NotAllowedNow(_("A reviewer rejected this script."))
    if decided == AnswerStatus.WITHDRAWN:
        raise NotAllowedNow(_("This script's approval was withdrawn."))
    use = DraftUse.objects.create(draft=draft, by=by, reason=reason)
    record(draft, "used without review", by=by)
    transaction.on_commit(lambda: hooks.notify_used_unreviewed(draft.run_id))
    return use
