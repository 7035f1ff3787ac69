"""Background work of the sandbox's own worker, on a queue of its own."""

from __future__ import annotations

from celery import shared_task

from catalog.evidence import services
from catalog.models import CaseRun


@shared_task(name=CaseRun.TASK)
def run_cases(pk: int) -> None:
    """Run the cases that were asked for, if no other worker is at it."""
    services.carry_out_run(pk)


@shared_task(name="catalog.run_all_cases")
def run_all_cases() -> None:
    """Every night: every entry that answers, in all its cases; and old runs go."""
    services.delete_old_runs()
    services.request_all_runs(purpose=CaseRun.Purpose.NIGHTLY)


@shared_task(name="catalog.probe_sandbox")
def probe_sandbox() -> None:
    """Every hour: whether there is still a sandbox, and on what kind of machine."""
    services.probe_sandbox()
