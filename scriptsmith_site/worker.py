"""Signal handlers for the startup and shutdown of a Celery worker."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import time

from django.conf import settings
from django.core.management.base import SystemCheckError
from django.db import DatabaseError

from catalog.services import keep_reporting, probe_sandbox
from core.preloading import check_database
from pipeline.clients.model_client import client_in_use
from pipeline.execution.abandonment import abandon_calls_after
from pipeline.ledger.model_calls import draining
from pipeline.scheduling.dispatch import forget_dispatches
from pipeline.scheduling.heartbeat import heartbeat
from scriptsmith_site.embedded import worker_healthcheck
from scriptsmith_site.operation import traces
from scriptsmith_site.scheduler import leave_sign, remove_sign

logger = logging.getLogger(__name__)


SANDBOX_WORKER = "execution@"
_SIGN_EVERY = 10.0  # seconds


def refuse_wrong_database(**_signal: object) -> None:
    """Exit before the worker processes tasks on a database that this machine must not use."""
    try:
        check_database()
    except SystemCheckError as error:
        sys.exit(str(error))


def begin_traces(**_signal: object) -> None:
    """Start tracing in a worker, if it is enabled."""
    traces.begin_traces()


def warm_up_worker(sender: object = None, **_signal: object) -> None:
    """Report a worker as ready. A sandbox worker also reports whether it can run scripts.

    No worker loads the SDK before a run calls a model, because it takes 75 MiB.
    """
    if settings.SCRIPTSMITH_WORKER_METRICS is not None:
        from scriptsmith_site.operation import (
            worker_metrics,
        )  # loads modules that otherwise only web processes need

        worker_metrics.show_counts()
    if _is_sandbox_worker(sender):
        # Start before the probe, which takes a long time on a busy machine.
        threading.Thread(target=_keep_signing, name="runner-sign", daemon=True).start()
        probe_sandbox()
        keep_reporting()
        return
    forget_dispatches()
    sign = worker_healthcheck.file_of(settings.LAYOUT.data, socket.gethostname())
    heartbeat.announce_worker(threads=settings.SCRIPTSMITH_WORKER_THREADS, sign=sign)
    if settings.LAYOUT.data.is_dir():
        settings.LAYOUT.worker_ready.touch()


def drain_worker(sender: object = None, **_signal: object) -> None:
    """Let model calls in flight finish, because they are paid for, and start no further calls."""
    if _is_sandbox_worker(sender):
        return
    draining.set()
    if client := client_in_use():
        abandon_calls_after(client, seconds=settings.SCRIPTSMITH_DRAIN_SECONDS)


def withdraw_worker(sender: object = None, **_signal: object) -> None:
    """Remove a worker that shuts down cleanly from the list of workers."""
    if _is_sandbox_worker(sender):
        remove_sign(worker_healthcheck.RUNNER)
        return
    try:
        heartbeat.withdraw_worker()
    except DatabaseError:
        logger.warning("the worker could not report that it is stopping", exc_info=True)


def _keep_signing() -> None:
    """Touch a sandbox worker's heartbeat file for the container's health check, because it renews no leases."""
    while True:
        leave_sign(worker_healthcheck.RUNNER)
        time.sleep(_SIGN_EVERY)


def _is_sandbox_worker(sender: object) -> bool:
    """Return whether the signal's worker serves the sandbox queue. Celery passes the worker or its name."""
    return str(getattr(sender, "hostname", sender)).startswith(SANDBOX_WORKER)
