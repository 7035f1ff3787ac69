"""The scheduler as a thread of a worker."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import Any

from celery import Celery, bootsteps
from celery.beat import Service
from django.db import connection

logger = logging.getLogger(__name__)

_LOOK_EVERY = 1  # seconds until the thread notices that it must stop
_RESTART_AFTER = 5.0  # seconds


class SchedulerThread(bootsteps.StartStopStep):
    """A worker step that runs the scheduler as a thread, for workers started with `--scheduler-thread`.

    Celery's `--beat` starts another process, which uses more than 100 MiB.
    """

    label = "scheduler"

    def __init__(self, worker: Any, scheduler_thread: bool = False, **options: Any) -> None:
        self.enabled = scheduler_thread
        super().__init__(worker, **options)

    def create(self, worker: Any) -> Any:
        """Create the thread, which the worker starts and stops."""
        return _Thread(worker.app, worker.schedule_filename)


class _Thread(threading.Thread):
    def __init__(self, app: Celery, schedule: str) -> None:
        super().__init__(name="scheduler", daemon=True)
        self._make_service = partial(  # type: ignore[call-arg]  # the stubs lack `remote_control`
            Service,
            app,
            max_interval=_LOOK_EVERY,
            schedule_filename=schedule,
            scheduler_cls=app.conf.beat_scheduler,
            remote_control=False,
        )
        self._service = self._make_service()
        self._ends = threading.Event()

    def run(self) -> None:
        """Run the scheduler until it is stopped. Errors are logged, because no supervisor monitors a thread."""
        while not self._ends.is_set():
            try:
                self._service.start()
            except Exception:
                logger.exception("the scheduler restarts")
                self._ends.wait(_RESTART_AFTER)
                self._service = self._make_service()
        connection.close()

    def stop(self) -> None:
        """Stop the thread after its current pass."""
        self._ends.set()
        self._service.stop()
        self.join(timeout=5.0)
