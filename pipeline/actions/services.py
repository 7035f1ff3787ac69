"""Services for requests: create, run, edit and delete them, and erase their texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.crypto import salted_hmac
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
    IdempotencyKey,
    MessageBatch,
    Run,
    WrittenCases,
)
from pipeline.runs.services import SecretsFound, start_run
from pipeline.runs.services.secrets import (
    mask_texts,
    require_no_secrets,
    say_kinds,
    secrets_in_texts,
    settle_secrets,
)
from pipeline.types import AnswerStatus, DraftKind, SecretsChoice

KEPT_KEY = timedelta(hours=24)
MAX_STATEMENT = 4_000
MAX_CONTEXT = 40_000


@transaction.atomic
def ask(
    statement: str,
    *,
    by: User | None,
    source: Action.Source = Action.Source.ASKED,
    masks_stored: bool = False,
    **details: object,
) -> Action:
    """Store a request. `details` are the optional arguments of `_checked`.

    With `masks_stored`, secrets are masked before the texts are stored. Raises BadInput if the text is empty,
    too long or binary.
    """
    fields, kinds = _checked(statement, masks_stored=masks_stored, **details)  # type: ignore[arg-type]
    action = Action.objects.create(
        **fields,
        source=source,
        asked_by=by,
        # The requester is notified of later changes.
        seen_status=AnswerStatus.RUNNING if by and source == Action.Source.ASKED else "",
    )
    _record_masked(action, kinds, by=by)
    return action


def _checked(
    statement: str,
    *,
    masks_stored: bool,
    incident: str = "",
    environment: str = "",
    reference: str = "",
    severity: int = Action.Severity.MEDIUM,
    target: str = "",
    impact: str = "",
) -> tuple[dict[str, object], list[str]]:
    """Validate the texts and return the fields of an action and the kinds of masked secrets. Raises BadInput."""
    texts = {
        "statement": check_text(statement, field="statement", most=MAX_STATEMENT).strip(),
        "incident": check_text(incident, field="incident", most=MAX_CONTEXT),
        "environment": check_text(environment, field="environment", most=MAX_CONTEXT),
        "reference": check_text(reference, field="reference", most=MAX_CONTEXT),
        "target": check_text(target, field="target", most=300),
        "impact": check_text(impact, field="impact", most=500),
    }
    if not texts["statement"]:
        raise BadInput(_("Describe the task."), field="statement")
    if severity not in Action.Severity.values:
        raise BadInput(_("Severity must be a number from 1 to 4."), field="severity")
    kinds: list[str] = []
    if masks_stored:
        texts, kinds = mask_texts(texts)
    sha256 = hashlib.sha256(texts["statement"].encode()).hexdigest()
    return {**texts, "statement_sha256": sha256, "severity": severity}, kinds


def _record_masked(action: Action, kinds: list[str], *, by: User | None) -> None:
    if kinds:
        record(action, "secrets masked in the stored text", by=by, kinds=("", say_kinds(kinds)))


def ask_and_run(
    statement: str,
    *,
    by: User,
    configuration: Configuration | None = None,
    secrets: SecretsChoice | None = SecretsChoice.MASK,
    **details: object,
) -> Run:
    """Store an Action and start its first Run in one transaction. Raises the same errors as `start_run`.

    Without `secrets`, the texts must contain no secrets, because every user can read and search them.
    """
    with transaction.atomic():
        action = ask(statement, by=by, **details)  # type: ignore[arg-type]
        chosen = secrets or SecretsChoice.MASK
        run = start_run(action, by=by, configuration=configuration, secrets=chosen)
        if secrets is None:
            require_no_secrets(run)
        return run


@transaction.atomic
def answer_once(
    key: str,
    body: Mapping[str, object],
    make: Callable[[], tuple[Action, dict[str, object]]],
    *,
    by: User,
) -> dict[str, object]:
    """Return the response of `make`, or the first response to the same key and body in the last 24 hours.

    Raises BadInput if the key was sent with a different body. A second request with the key waits for the first.
    """
    if not 0 < len(key) <= 255 or not key.isprintable():
        raise BadInput(_("An Idempotency-Key must consist of 1 to 255 printable characters."))
    text = json.dumps(body, sort_keys=True, default=str)
    digest = salted_hmac("pipeline.idempotency", text, algorithm="sha256").hexdigest()
    mine = IdempotencyKey.objects.filter(user=by, key=key)
    mine.filter(at__lte=timezone.now() - KEPT_KEY).delete()
    kept, is_new = mine.get_or_create(user=by, key=key, defaults={"body": digest})
    if kept.body != digest:
        raise BadInput(
            _("This Idempotency-Key was already used with a different body. Use a new key.")
        )
    if is_new:
        kept.action, kept.response = make()
        kept.save(update_fields=["action", "response"])
        # Reload the response, so that its keys have the same order as in a repeated response.
        kept.refresh_from_db(fields=["response"])
    return kept.response  # type: ignore[no-any-return]


def forget_keys() -> None:
    """Delete idempotency keys and their responses that are older than a day."""
    IdempotencyKey.objects.filter(at__lte=timezone.now() - KEPT_KEY).delete()


@transaction.atomic
def edit_action(
    action: Action,
    *,
    statement: str,
    secrets: SecretsChoice | None,
    by: User,
    masks_stored: bool = False,
    **details: object,
) -> None:
    """Change the texts of a request before a run starts. Raises NotAllowedNow once a run has started, and the same
    errors as `ask` and `start_run`.
    """
    runs = _lock_unstarted(action)
    fields, kinds = _checked(statement, masks_stored=masks_stored, **details)  # type: ignore[arg-type]
    if secrets is None and (found := secrets_in_texts(fields)):  # type: ignore[arg-type]
        raise SecretsFound(found, to=[])
    for name, value in fields.items():
        setattr(action, name, value)
    action.save(update_fields=[*fields])
    IdempotencyKey.objects.filter(action=action).delete()
    forget_name(action)
    for run in runs:
        run.action = action
        settle_secrets(run, secrets or SecretsChoice.MASK, by=by)
    _record_masked(action, kinds, by=by)
    record(action, "request edited", by=by)


@transaction.atomic
def delete_action(action: Action, *, by: User) -> None:
    """Delete a request before a run starts, or erase its texts if other rows reference it. Raises NotAllowedNow."""
    for run in _lock_unstarted(action):
        run.delete()
    record(action, "request deleted", by=by)
    try:
        with transaction.atomic():
            Action.objects.get(pk=action.pk).delete()
    except ProtectedError:
        erase_action(action, by=by)
    else:
        action.statement = ""
        forget_name(action)


def _lock_unstarted(action: Action) -> list[Run]:
    """Lock the runs of an action, so that no worker starts them. Raises NotAllowedNow if a run has started."""
    Action.objects.select_for_update().get(pk=action.pk)
    runs = list(action.runs.select_for_update())
    if action.erased_at or any(run.started_at for run in runs):
        raise NotAllowedNow(
            _(
                "A run of this request has started, so the request can't be changed. Create a new request instead."
            )
        )
    return runs


@transaction.atomic
def erase_action(action: Action, *, by: User) -> None:
    """Erase the texts of an Action and its runs. Counts, hashes and decisions stay.

    Raises NotAllowedNow if the texts are already erased, if a run is in progress, or if a message batch contains a
    model call. Runs and batches would write new texts.
    """
    now = timezone.now()
    # Lock the batches, so that no batch is sent in the meantime. Unsent batches drop these calls.
    asked = Attempt.objects.filter(call__run__action=action, ended_at=None)
    batches = MessageBatch.objects.select_for_update(no_key=True).order_by("pk")
    states = {row.state for row in batches.filter(pk__in=asked.values("message_batch"))}
    if states - {MessageBatch.State.PREPARED}:
        raise NotAllowedNow(_("A model call is in a message batch. Wait until the batch ends."))
    if action.runs.unfinished().exists():
        raise NotAllowedNow(
            _("A run of this request is in progress. Cancel the run or wait until it ends.")
        )
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
        raise NotAllowedNow(_("These texts have already been erased."))
    IdempotencyKey.objects.filter(action=action).delete()
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
    """Erase the action's cases, which contain words of the statement, unless runs of other actions also use them.

    `statement` is nonempty if no other action has the same statement. All case sets for it are then erased too.
    """
    written = WrittenCases.objects.filter(run__action=action)
    case_sets = set(written.values_list("case_set", flat=True))
    written.delete()
    # Statements that differ only in case share their case sets.
    if statement and not Action.objects.filter(statement__iexact=statement).exists():
        case_sets |= catalog.all_case_sets(statement)
    others = WrittenCases.objects.filter(case_set__in=case_sets)
    catalog.forget_case_sets(case_sets, keeping=set(others.values_list("case_set", flat=True)))


def _scripts_only_of(action: Action) -> set[str]:
    """Return the hashes of drafts that belong only to this action or to erased actions."""
    hashes = set(Draft.objects.filter(run__action=action).values_list("sha256", flat=True))
    others = Draft.objects.filter(sha256__in=hashes, run__action__erased_at=None)
    return hashes.difference(others.values_list("sha256", flat=True))
