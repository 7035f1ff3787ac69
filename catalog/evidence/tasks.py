"""Background tasks of the sandbox worker, on their own queue."""

from __future__ import annotations

from celery import shared_task

from catalog.evidence import services
from catalog.models import CaseRun


@shared_task(name=CaseRun.TASK)
def run_cases(pk: int) -> None:
    """Run the requested tests unless another worker has claimed the run."""
    services.carry_out_run(pk)


@shared_task(name="catalog.run_all_cases")
def run_all_cases() -> None:
    """Request runs of all tests for entries with a live version, and delete old runs. Runs every night."""
    services.delete_old_runs()
    services.request_all_runs(purpose=CaseRun.Purpose.NIGHTLY)


@shared_task(name="catalog.probe_sandbox")
def probe_sandbox() -> None:
    """Report whether a sandbox works, and the kind of machine. Runs every hour."""
    services.probe_sandbox()
