"""Background work: an id goes in, nothing comes out; what must survive is in PostgreSQL."""

from __future__ import annotations

from celery import shared_task

from pipeline import execution


@shared_task(name="pipeline.execute_run")
def execute_run(run_id: int) -> None:
    """Carry a Run as far as it goes now; the ledger and the sweep do the rest."""
    execution.advance(run_id)


@shared_task(name="pipeline.sweep_runs")
def sweep_runs() -> None:
    """Enqueue every unfinished Run that no worker holds, so that an emptied broker loses nothing."""
    for run_id, queue in execution.abandoned_runs():
        # What waits in the broker longer than this is told again, and need not be told twice.
        execute_run.apply_async((run_id,), queue=queue, expires=30)
