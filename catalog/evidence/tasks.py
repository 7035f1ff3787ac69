"""Background work of the sandbox's worker, on its own queue."""

from __future__ import annotations

from celery import shared_task

from catalog.evidence import services
from catalog.models import CaseRun


@shared_task(name=CaseRun.TASK)
def run_cases(pk: int) -> None:
    """Run the requested cases, unless another worker does."""
    services.carry_out_run(pk)


@shared_task(name="catalog.run_all_cases")
def run_all_cases() -> None:
    """Every night: run all cases of every entry that answers, and delete old runs."""
    services.delete_old_runs()
    services.request_all_runs(purpose=CaseRun.Purpose.NIGHTLY)


@shared_task(name="catalog.probe_sandbox")
def probe_sandbox() -> None:
    """Check every hour whether there is a sandbox, and on what kind of machine."""
    services.probe_sandbox()
