"""What a Celery worker does when it is ready, when it is told to end, and when it ends."""

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
    """End a worker before it takes up work on a database that this machine must not work on."""
    try:
        check_database()
    except SystemCheckError as error:
        sys.exit(str(error))


def begin_traces(**_signal: object) -> None:
    """Traces of a worker, where they are wanted."""
    traces.begin_traces()


def warm_up_worker(sender: object = None, **_signal: object) -> None:
    """Report a worker as ready: one of the sandbox says whether it can run scripts, any other can take runs.

    No worker loads the SDK before a run calls a model, because it takes 75 MiB.
    """
    if settings.SCRIPTSMITH_WORKER_METRICS is not None:
        from scriptsmith_site.operation import (
            worker_metrics,
        )  # loads what only the web needs otherwise

        worker_metrics.show_counts()
    if _is_sandbox_worker(sender):
        # Before the probe: a machine that is busy takes its time for that.
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
    """A worker told to end waits for its calls in flight, which are paid for, and makes no further one."""
    if _is_sandbox_worker(sender):
        return
    draining.set()
    if client := client_in_use():
        abandon_calls_after(client, seconds=settings.SCRIPTSMITH_DRAIN_SECONDS)


def withdraw_worker(sender: object = None, **_signal: object) -> None:
    """A worker that ends in order is not missed."""
    if _is_sandbox_worker(sender):
        remove_sign(worker_healthcheck.RUNNER)
        return
    try:
        heartbeat.withdraw_worker()
    except DatabaseError:
        logger.warning("the worker could not say that it ends", exc_info=True)


def _keep_signing() -> None:
    """Signs of life of a runner, for the health check of its container; it has no heart that renews leases."""
    while True:
        leave_sign(worker_healthcheck.RUNNER)
        time.sleep(_SIGN_EVERY)


def _is_sandbox_worker(sender: object) -> bool:
    """Whether the worker that a signal is about has the queue of the sandbox; Celery sends it or its name."""
    return str(getattr(sender, "hostname", sender)).startswith(SANDBOX_WORKER)
