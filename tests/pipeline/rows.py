"""Create runs and ledger rows for multiple tests."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone

from pipeline import services
from pipeline.execution import run_worker
from pipeline.models import Attempt, Endpoint, ModelCall, Run
from tests.make import make_action
from tests.standin_process import StandIn

EXPORTS = "delete files older than 30 days in /var/tmp/exports"


def queue_run(statement: str = EXPORTS, *, by: User | None = None, **options: object) -> Run:
    """Create a run that does not search the catalogue, without notifying a worker."""
    action = make_action(statement, by=by)
    return services.start_run(action, by=by, uses_retrieval=False, enqueue=False, **options)


def interrupt(standin: StandIn, run: Run, *, task: str) -> None:
    """Advance a run until the server is unavailable for a task, then unblock the endpoint."""
    unavailable = {"kind": "status", "status": 503, "headers": {"retry-after": "60"}}
    standin.faults({**unavailable, "task": task})
    run_worker.advance(run.pk)
    run.refresh_from_db()
    assert run.state == "queued" and run.not_before is not None
    Endpoint.objects.update(blocked_until=None)
    Run.objects.update(not_before=None)


def make_call(run: Run, stage: str, *, endpoint: str = "demo", **values: object) -> ModelCall:
    """Create a call of a stage. `values` replace the defaults."""
    defaults = {
        "key": f"{run.pk} {stage} {values.get('round', 0)}",
        "endpoint": Endpoint.objects.get(name=endpoint),
        "model": "demo-smith",
        "prompt": stage,
        "prompt_version": "0123456789ab",
        "request": {},
    }
    return ModelCall.objects.create(run=run, stage=stage, **{**defaults, **values})


def make_attempt(call: ModelCall, **values: object) -> Attempt:
    """Create an attempt of a call, answered just now. `values` replace the defaults."""
    defaults = {"number": 1, "fence": 1, "ended_at": timezone.now(), "outcome": "answered"}
    return Attempt.objects.create(call=call, **{**defaults, **values})
