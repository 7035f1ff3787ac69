"""Start, cancel and retry runs."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow
from pipeline.configurations.services import default_configuration, hold_configuration
from pipeline.configurations.snapshots import snapshot_of
from pipeline.llm.types import Trouble
from pipeline.models import Action, Batch, Configuration, Run
from pipeline.runs.services.secrets import settle_secrets
from pipeline.scheduling.dispatch import dispatch_runs
from pipeline.scheduling.run_leases import mark_orphans
from pipeline.types import SecretsChoice


@transaction.atomic
def start_run(
    action: Action,
    *,
    by: User | None,
    configuration: Configuration | None = None,
    origin: Run.Origin = Run.Origin.ASKED,
    uses_retrieval: bool | None = None,
    uses_examples: bool = True,
    follows: Run | None = None,
    batch: Batch | None = None,
    secrets: SecretsChoice | None = SecretsChoice.MASK,
    enqueue: bool = True,
) -> Run:
    """Send an Action through the pipeline. The work begins after this transaction commits.

    If `uses_examples` is False, no examples are shown, even if the configuration enables them. `secrets` says how to
    handle secrets that would leave this machine. If it is None, the user must choose first. Raises BadInput if no
    Configuration can be used or one of its endpoints is off, and SecretsFound.
    """
    configuration = hold_configuration(configuration or default_configuration())
    spec, demo = snapshot_of(configuration)
    spec["uses_examples"] = bool(spec["uses_examples"]) and uses_examples
    if origin == Run.Origin.CAMPAIGN:
        # Entries that answer the statement must not be examples. Runs from earlier releases lack this key.
        spec["guards_examples"] = True
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
        secrets=secrets or SecretsChoice.MASK,
    )
    settle_secrets(run, secrets, by=by)
    if enqueue:
        enqueue_run(run)
    return run


def enqueue_run(run: Run) -> None:
    """Enqueue the run after the commit. If the broker is down, the sweep enqueues it later."""
    dispatch_runs([run])


@transaction.atomic
def cancel_run(run: Run, *, by: User) -> None:
    """Cancel a run, so that its worker's next write is rejected. Raises NotAllowedNow if the run has finished."""
    changed = (
        Run.objects.unfinished()
        .filter(pk=run.pk, finished_at=None)
        .update(state=Run.State.CANCELLED, owner="", lease_until=None, fence=F("fence") + 1)
    )
    if not changed:
        raise NotAllowedNow(_("This run has already finished."))
    run.refresh_from_db()
    mark_orphans(
        run, why="The run was canceled before the reply arrived.", error_type=Trouble.ABANDONED
    )
    record(run, "cancelled", by=by)


@transaction.atomic
def retry_run(run: Run, *, by: User) -> None:
    """Resume a failed run without repeating answered questions."""
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
        raise NotAllowedNow(_("Only failed runs can be resumed."))
    # Calls that had used up their attempts get new attempts. Answered calls stay unchanged.
    run.calls.filter(state="failed").update(state="open", ended_at=None)
    run.stages.exclude(state="done").delete()
    record(run, "resumed", by=by)
    enqueue_run(run)
