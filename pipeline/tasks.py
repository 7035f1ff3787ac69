"""Background tasks. They take an id and return nothing, because all persistent state is in PostgreSQL."""

from __future__ import annotations

import threading

from celery import Task, shared_task
from django.conf import settings

from pipeline.endpoints import check_worker
from pipeline.execution import run_worker
from pipeline.message_batches import background
from pipeline.models import Run
from pipeline.scheduling.dispatch import dispatch_next_of_campaigns

# Campaigns may use this many threads. The other threads are for users' runs.
_campaign_threads = threading.BoundedSemaphore(settings.SCRIPTSMITH_CAMPAIGN_THREADS)


@shared_task(name="pipeline.execute_run", bind=True)
def execute_run(self: Task[[int], None], run_id: int) -> None:
    """Advance a Run as far as possible. The ledger and the sweep ensure that it continues later."""
    queue = (self.request.delivery_info or {}).get("routing_key")
    if queue != Run.CAMPAIGN_QUEUE:
        run_worker.advance(run_id)
        return
    if not _campaign_threads.acquire(blocking=False):
        return  # The run is sent again when another run ends.
    try:
        run_worker.advance(run_id)
    finally:
        _campaign_threads.release()
        dispatch_next_of_campaigns()


@shared_task(name="pipeline.sweep_runs")
def sweep_runs() -> None:
    """Enqueue every unfinished Run without a worker, so that no Run is lost if the broker is cleared."""
    run_worker.sweep()


@shared_task(name="pipeline.advance_message_batches")
def advance_message_batches() -> None:
    """Collect, send, poll and read Message Batches, each as far as possible."""
    background.advance_message_batches()


@shared_task(name="pipeline.check_endpoint")
def check_endpoint(endpoint_id: int, check_id: str) -> None:
    """Check an endpoint, unless the check has already started, is superseded or is too old."""
    check_worker.carry_out_check(endpoint_id, check_id)
