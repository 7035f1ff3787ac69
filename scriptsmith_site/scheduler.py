"""Celery's scheduler, extended to send periodic tasks early while they have work.

It also updates a heartbeat file for the container's health check.
"""

from __future__ import annotations

import logging
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery.beat import PersistentScheduler
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection

from scriptsmith_site.embedded import worker_healthcheck
from scriptsmith_site.pending_work import pending

logger = logging.getLogger(__name__)

_SIGN_EVERY = 10.0  # seconds
_LOOK_EVERY = 1.0  # seconds


class SignallingScheduler(PersistentScheduler):
    """A scheduler that touches a file on each pass, so that it is restarted if it hangs."""

    _signed_at = 0.0
    _looked_at = 0.0
    _database_answers = True

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send all due tasks, and return the seconds until the next pass."""
        now = time.monotonic()
        if not self._signed_at or now - self._signed_at >= _SIGN_EVERY:
            self._signed_at = now
            leave_sign(worker_healthcheck.SCHEDULER)
        if now - self._looked_at >= _LOOK_EVERY:
            self._looked_at = now
            self._send_early()
        seconds: float = super().tick(*arguments, **options)
        return min(seconds, _LOOK_EVERY)

    def schedules_equal(self, old: object, new: object) -> bool:
        """Return whether the schedule is unchanged. It comes from the settings and never changes."""
        return old is not None

    def _send_early(self) -> None:
        """Send the tasks that have work and whose shorter interval has passed."""
        for name in self._pending():
            entry = self.schedule.get(name)
            if entry is None:
                continue
            # Celery sets `last_run_at` when it creates the entry.
            waited = entry.default_now() - (entry.last_run_at or entry.default_now())
            if waited.total_seconds() >= settings.SCRIPTSMITH_INTERVALS_WITH_WORK[name]:
                # Change the entry in place, so that the next pass finds it in its heap and knows that it is not due.
                entry.last_run_at = entry.default_now()
                self.apply_entry(entry, producer=self.producer)

    def _pending(self) -> set[str]:
        """Return the names of the tasks with work, or all names if the database does not respond."""
        try:
            close_old_connections()
            found = pending()
        except DatabaseError:
            if self._database_answers:
                logger.warning("can't query the database for work", exc_info=True)
            self._database_answers = False
            connection.close()
            return set(settings.SCRIPTSMITH_INTERVALS_WITH_WORK)
        self._database_answers = True
        return found


def leave_sign(part: str) -> None:
    """Touch the heartbeat file of a part. Errors are logged and do not stop the part."""
    sign: Path = worker_healthcheck.file_of(settings.LAYOUT.data, socket.gethostname(), part)
    try:
        sign.parent.mkdir(parents=True, exist_ok=True)
        sign.touch()
    except OSError:
        logger.warning("can't write the heartbeat file %s", sign, exc_info=True)


def remove_sign(part: str) -> None:
    """Remove the heartbeat file of a part that shuts down cleanly."""
    with suppress(OSError):
        worker_healthcheck.file_of(settings.LAYOUT.data, socket.gethostname(), part).unlink()
