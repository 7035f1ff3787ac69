"""The scheduler: Celery's own, which also sends periodic tasks early while they have work.

It leaves a sign of life for the health check of its container.
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
    """Touches its file while it passes through what is due, so that a scheduler that hangs is restarted."""

    _signed_at = 0.0
    _looked_at = 0.0
    _database_answers = True

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send what is due, and return the seconds until the next passage."""
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
        """Return whether the schedule was seen before. It comes from the settings and never changes."""
        return old is not None

    def _send_early(self) -> None:
        """Send the tasks that have work and whose shorter interval has passed."""
        for name in self._pending():
            entry = self.schedule.get(name)
            if entry is None:
                continue
            # Celery sets the time when it makes the entry.
            waited = entry.default_now() - (entry.last_run_at or entry.default_now())
            if waited.total_seconds() >= settings.SCRIPTSMITH_INTERVALS_WITH_WORK[name]:
                # In place: the passage finds it in its heap, and that it is not due yet.
                entry.last_run_at = entry.default_now()
                self.apply_entry(entry, producer=self.producer)

    def _pending(self) -> set[str]:
        """Return the names of the tasks with work; of all, if the database does not answer."""
        try:
            close_old_connections()
            found = pending()
        except DatabaseError:
            if self._database_answers:
                logger.warning("the database cannot be asked for work", exc_info=True)
            self._database_answers = False
            connection.close()
            return set(settings.SCRIPTSMITH_INTERVALS_WITH_WORK)
        self._database_answers = True
        return found


def leave_sign(part: str) -> None:
    """Touch the file of this part; where that can't be done it is logged, and its work goes on."""
    sign: Path = worker_healthcheck.file_of(settings.LAYOUT.data, socket.gethostname(), part)
    try:
        sign.parent.mkdir(parents=True, exist_ok=True)
        sign.touch()
    except OSError:
        logger.warning("no sign of life could be left in %s", sign, exc_info=True)


def remove_sign(part: str) -> None:
    """A part that ends in order leaves no sign."""
    with suppress(OSError):
        worker_healthcheck.file_of(settings.LAYOUT.data, socket.gethostname(), part).unlink()
