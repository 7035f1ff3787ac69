"""What people can do with actions: create them, run them, erase their texts."""

from __future__ import annotations

import hashlib

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import services as catalog
from core.audit import forget_name, record
from core.errors import BadInput, NotAllowedNow
from core.texts import check_text
from pipeline import hooks
from pipeline.models import (
    Action,
    Attempt,
    Configuration,
    Draft,
    MessageBatch,
    Run,
    WrittenCases,
)
from pipeline.runs.services import start_run
from pipeline.types import AnswerStatus, DraftKind, SecretsChoice

MAX_STATEMENT = 4_000
MAX_CONTEXT = 40_000


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
    """Store an action statement. Raises BadInput for an empty, overlong or binary text."""
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
        # From here on, whoever asked is told of what changes.
        seen_status=AnswerStatus.RUNNING if by and source == Action.Source.ASKED else "",
    )


def ask_and_run(
    statement: str,
    *,
    by: User,
    configuration: Configuration | None = None,
    secrets: SecretsChoice | None = SecretsChoice.MASK,
    **details: object,
) -> Run:
    """Store an Action and start its first Run, both or neither; raises what `start_run` does."""
    with transaction.atomic():
        action = ask(statement, by=by, **details)  # type: ignore[arg-type]
        return start_run(action, by=by, configuration=configuration, secrets=secrets)


@transaction.atomic
def erase_action(action: Action, *, by: User) -> None:
    """Erase an Action's texts and those of its runs; counts, hashes and decisions stay.

    Raises NotAllowedNow if they are erased already, if a run is in progress that would write new ones, or if a
    question is in a message batch, whose reply would contain its words again.
    """
    now = timezone.now()
    # Locked, so that none is sent meanwhile; one that was not sent yet goes without these questions.
    asked = Attempt.objects.filter(call__run__action=action, ended_at=None)
    batches = MessageBatch.objects.select_for_update(no_key=True).order_by("pk")
    states = {row.state for row in batches.filter(pk__in=asked.values("message_batch"))}
    if states - {MessageBatch.State.PREPARED}:
        raise NotAllowedNow(_("A question of it is in a message batch. Wait for its end."))
    if action.runs.unfinished().exists():
        raise NotAllowedNow(_("A run of this action is under way. Cancel it, or wait for its end."))
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
    action.runs.update(sent_secrets=[])
    for run in action.runs.all():
        run.refinements.update(sent_secrets=[])
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
    catalog.forget_scripts(_scripts_only_of(action))
    same = Action.objects.filter(statement_sha256=action.statement_sha256, erased_at=None)
    _forget_cases_of(action, "" if same.exists() else statement)
    if not same.exists():
        catalog.forget_statement(statement)
    if hooks.texts_erased is not None:
        hooks.texts_erased(action.pk)
    record(action, "texts erased", by=by)
    forget_name(action)


def _forget_cases_of(action: Action, statement: str) -> None:
    """Erase the cases, which contain words of the statement; keep those that a run of another action has as well.

    `statement` is given if no other action has the same statement; then everything else stored under it is erased
    too.
    """
    written = WrittenCases.objects.filter(run__action=action)
    case_sets = set(written.values_list("case_set", flat=True))
    written.delete()
    # Case sets are by the words alone, whatever their capitals.
    if statement and not Action.objects.filter(statement__iexact=statement).exists():
        case_sets |= catalog.all_case_sets(statement)
    others = WrittenCases.objects.filter(case_set__in=case_sets)
    catalog.forget_case_sets(case_sets, keeping=set(others.values_list("case_set", flat=True)))


def _scripts_only_of(action: Action) -> set[str]:
    """The hashes of its drafts that no other action with texts has."""
    hashes = set(Draft.objects.filter(run__action=action).values_list("sha256", flat=True))
    others = Draft.objects.filter(sha256__in=hashes, run__action__erased_at=None)
    return hashes.difference(others.values_list("sha256", flat=True))
