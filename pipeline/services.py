"""What people and other apps can have the pipeline do; pages, API and commands call these and nothing else."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import services as catalog
from catalog.analysis import UnreadableScript, analyse
from catalog.models import MatchLabel, Version
from core.audit import forget_name, record
from core.errors import BadInput, NotAllowedNow
from core.texts import check_text
from pipeline import hooks
from pipeline.configurations.prompt_versions import choose_versions
from pipeline.configurations.services import hold_configuration
from pipeline.execution.draft_checks import keep_findings
from pipeline.models import (
    Action,
    Batch,
    Configuration,
    Draft,
    DraftUse,
    Feedback,
    Refinement,
    Run,
)
from pipeline.runs.services.shortening import ask_shorter as ask_shorter
from pipeline.runs.services.shortening import can_shorten as can_shorten
from pipeline.scheduling.batches import pause_batch as pause_batch
from pipeline.scheduling.batches import resume_batch as resume_batch
from pipeline.scheduling.batches import set_budget as set_budget
from pipeline.scheduling.dispatch import tell
from pipeline.scheduling.run_leases import mark_orphans
from pipeline.types import Arm, DraftKind

MAX_STATEMENT = 4_000
MAX_CONTEXT = 40_000
MAX_SCRIPT = 1_000_000
MAX_FEEDBACK = 8_000


# --- Asking ---------------------------------------------------------------------------------------------------


@transaction.atomic
def ask(
    statement: str,
    *,
    by: User | None,
    incident: str = "",
    environment: str = "",
    reference: str = "",
    severity: int = Action.Severity.MEDIUM,
    target: str = "",
    impact: str = "",
    source: Action.Source = Action.Source.ASKED,
) -> Action:
    """Note what somebody wants done. Raises BadInput for an empty, overlong or binary text."""
    statement = check_text(statement, field="statement", most=MAX_STATEMENT).strip()
    if not statement:
        raise BadInput(_("Say in words what is to be done."), field="statement")
    if severity not in Action.Severity.values:
        raise BadInput(_("Severity is a number from 1 to 4."), field="severity")
    return Action.objects.create(
        statement=statement,
        statement_sha256=hashlib.sha256(statement.encode()).hexdigest(),
        incident=check_text(incident, field="incident", most=MAX_CONTEXT),
        environment=check_text(environment, field="environment", most=MAX_CONTEXT),
        reference=check_text(reference, field="reference", most=MAX_CONTEXT),
        severity=severity,
        target=check_text(target, field="target", most=300),
        impact=check_text(impact, field="impact", most=500),
        source=source,
        asked_by=by,
    )


@transaction.atomic
def start_run(
    action: Action,
    *,
    by: User | None,
    configuration: Configuration | None = None,
    origin: Run.Origin = Run.Origin.ASKED,
    uses_retrieval: bool | None = None,
    follows: Run | None = None,
    batch: Batch | None = None,
    enqueue: bool = True,
) -> Run:
    """Send an Action through the pipeline; the work begins once this transaction has committed.

    Raises BadInput where no Configuration can be used, or one of its endpoints is switched off.
    """
    configuration = hold_configuration(configuration or default_configuration())
    spec, demo = _snapshot(configuration)
    run = Run.objects.create(
        action=action,
        configuration=configuration,
        batch=batch,
        follows=follows,
        origin=origin,
        spec=spec,
        demo=demo,
        uses_retrieval=configuration.uses_retrieval if uses_retrieval is None else uses_retrieval,
        asked_by=by,
    )
    if enqueue:
        enqueue_run(run)
    return run


def ask_and_run(
    statement: str, *, by: User, configuration: Configuration | None = None, **details: object
) -> Run:
    """Note an Action and start its first Run, both or neither."""
    with transaction.atomic():
        action = ask(statement, by=by, **details)  # type: ignore[arg-type]
        return start_run(action, by=by, configuration=configuration)


def default_configuration() -> Configuration:
    """The Configuration used when nobody names one; raises BadInput where there is none."""
    found = Configuration.objects.filter(is_default=True, archived_at=None).first()
    if found is None:
        raise BadInput(
            _("No configuration is the default; an administrator has to choose one."),
            field="configuration",
        )
    return found


def find_configuration(name: str) -> Configuration:
    """The Configuration of this name; raises BadInput where there is none in use."""
    found = Configuration.objects.filter(name=name, archived_at=None).first()
    if found is None:
        raise BadInput(
            _("There is no configuration named “%s”.") % name[:80], field="configuration"
        )
    return found


def enqueue_run(run: Run) -> None:
    """Tell the workers once this transaction has committed; where the broker is down, the sweep will."""
    tell([run])


@transaction.atomic
def cancel_run(run: Run, *, by: User) -> None:
    """Stop a run that is not finished; its next write is refused. Raises NotAllowedNow where it has finished."""
    changed = (
        Run.objects.unfinished()
        .filter(pk=run.pk, finished_at=None)
        .update(state=Run.State.CANCELLED, owner="", lease_until=None, fence=F("fence") + 1)
    )
    if not changed:
        raise NotAllowedNow(_("This run has already finished."))
    run.refresh_from_db()
    mark_orphans(run)
    record(run, "cancelled", by=by)


@transaction.atomic
def retry_run(run: Run, *, by: User) -> None:
    """Take a failed run up again where it stopped; what was answered is not asked again."""
    changed = Run.objects.filter(pk=run.pk, state=Run.State.FAILED).update(
        state=Run.State.QUEUED,
        finished_at=None,
        problem="",
        crashes=0,
        not_before=None,
        owner="",
        lease_until=None,
    )
    if not changed:
        raise NotAllowedNow(_("Only a failed run can be taken up again."))
    # Calls that had used up their tries get new ones; answered ones stay as they are.
    run.calls.filter(state="failed").update(state="open", ended_at=None)
    run.stages.exclude(state="done").delete()
    record(run, "taken up again", by=by)
    enqueue_run(run)


# --- A retrieved match -----------------------------------------------------------------------------------------


@transaction.atomic
def confirm_match(run: Run, *, by: User) -> MatchLabel:
    """The asker says *this is it*: a match label."""
    return _label(run, MatchLabel.Label.MATCH, by=by)


@transaction.atomic
def reject_match(run: Run, *, by: User) -> Run:
    """The asker says *not what I asked*: a no-match label, and a new Run that writes a script instead."""
    _label(run, MatchLabel.Label.NO_MATCH, by=by)
    return start_run(
        run.action, by=by, configuration=run.configuration, uses_retrieval=False, follows=run
    )


def _label(run: Run, label: MatchLabel.Label, *, by: User) -> MatchLabel:
    if run.answered_by is None:
        raise NotAllowedNow(_("This run was not answered from the catalogue."))
    # The row is locked, so that a double click gives one label and one new run.
    Run.objects.select_for_update().get(pk=run.pk)
    if (
        MatchLabel.objects.counting()
        .filter(statement=run.action.statement, version=run.answered_by, by=by)
        .exists()
    ):
        raise NotAllowedNow(_("You have already answered this."))
    best = run.matches.order_by("rank").first()
    return catalog.label_match(
        run.action.statement,
        version=run.answered_by,
        label=label,
        confidence=best.confidence if best else None,
        scoring=best.scoring if best else "",
        by=by,
    )


# --- Drafts and feedback by people -----------------------------------------------------------------------------


@transaction.atomic
def add_edited_draft(parent: Draft, *, script: str, by: User) -> Draft:
    """A person's correction as a new Draft of the same Run, with its static findings; raises BadInput."""
    script = check_text(script, field="script", most=MAX_SCRIPT)
    if not script.strip():
        raise BadInput(_("The script is empty."), field="script")
    if script == parent.script:
        raise BadInput(_("Nothing was edited."), field="script")
    try:
        report = analyse(script)
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
    draft: Draft, *, by: User | None, feedback: str = "", based_on: Feedback | None = None
) -> Refinement:
    """Have a Draft of a finished Run rewritten in the background: from an expert's feedback, or from the model's.

    Raises NotAllowedNow where the Run has not finished or the same was asked before.
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
            _("The model's feedback on this script is there already, or on its way.")
        )
    refinement = Refinement.objects.create(run=run, draft=draft, feedback=given, asked_by=by)
    if run.state != Run.State.RUNNING:
        run.state, run.not_before = Run.State.QUEUED, None
        run.save(update_fields=["state", "not_before"])
    enqueue_run(run)
    return refinement


@transaction.atomic
def use_unreviewed(draft: Draft, *, reason: str, by: User) -> DraftUse:
    """Break-glass: note that somebody uses a script nobody has verified, and why. Raises BadInput without a reason."""
    reason = check_text(reason, field="reason", most=2_000).strip()
    if not reason:
        raise BadInput(_("Say why it can't wait for a review."), field="reason")
    use = DraftUse.objects.create(draft=draft, by=by, reason=reason)
    record(draft, "used without review", by=by)
    transaction.on_commit(lambda: hooks.tell_used_unreviewed(draft.run_id))
    return use


@transaction.atomic
def erase_action(action: Action, *, by: User) -> None:
    """Erase an Action's texts and those of its runs; counts, hashes and decisions stay."""
    now = timezone.now()
    statement = Action.objects.values_list("statement", flat=True).get(pk=action.pk)
    if not Action.objects.filter(pk=action.pk, erased_at=None).update(
        statement="",
        incident="",
        environment="",
        reference="",
        target="",
        impact="",
        erased_at=now,
        erased_by=by,
    ):
        raise NotAllowedNow(_("These texts are erased already."))
    for run in action.runs.all():
        run.stages.update(found="")
        run.shortenings.exclude(shorter="").update(text="(erased)", shorter="(erased)")
        run.shortenings.filter(shorter="").update(text="(erased)")
        run.drafts.exclude(kind=DraftKind.RETRIEVED.value).update(script="# erased\n", note="")
        for draft in run.drafts.all():
            draft.findings.all().delete()
            draft.feedbacks.update(text="(erased)")
        for call in run.calls.all():
            call.attempts.update(raw=None, message="")
        run.calls.filter(state="done").update(request={}, reply={})
        run.calls.exclude(state="done").update(request={})
    action.refresh_from_db()
    same = Action.objects.filter(statement_sha256=action.statement_sha256, erased_at=None)
    if not same.exists():
        catalog.forget_statement(statement)
    record(action, "texts erased", by=by)
    forget_name(action)


# --- Helpers ----------------------------------------------------------------------------------------------------


def _snapshot(configuration: Configuration) -> tuple[dict[str, object], bool]:
    """The Configuration as it is now, for the Run to keep, and whether the demo model plays a part in it."""
    settings_ = list(configuration.roles.select_related("endpoint"))
    if {setting.role for setting in settings_} != {"generator", "assessor", "refiner"}:
        raise BadInput(
            _("The configuration “%s” does not say who plays each role.") % configuration,
            field="configuration",
        )
    for setting in settings_:
        if not setting.endpoint.is_on:
            raise BadInput(
                _("The endpoint “%s” is switched off.") % setting.endpoint, field="configuration"
            )
    spec: dict[str, object] = {
        "configuration": configuration.name,
        "rounds": configuration.rounds,
        "uses_examples": configuration.uses_examples,
        "roles": {
            setting.role: {
                "endpoint": setting.endpoint.name,
                "endpoint_id": setting.endpoint_id,
                "model": setting.model,
                "mode": setting.endpoint.mode,
                "max_tokens": setting.max_tokens,
                "effort": setting.effort,
                "temperature": setting.temperature if setting.endpoint.takes_temperature else None,
            }
            for setting in settings_
        },
        "prompts": choose_versions(configuration.prompts),
    }
    return spec, any(setting.endpoint.demo for setting in settings_)
