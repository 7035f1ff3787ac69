"""Closes the database sessions of worker threads that have had no task for some seconds.

Django closes the connection of a thread only in that thread, which an idle one never does. Each session costs the
worker and PostgreSQL memory; opening one again costs some milliseconds.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db import DEFAULT_DB_ALIAS, DatabaseError, close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

IDLE_SECONDS = 5.0


class IdleSessions:
    """The connections of this process's threads that have no task now, and when each had its last one."""

    def __init__(self) -> None:
        self._idle: dict[BaseDatabaseWrapper, float] = {}
        self._changed = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_in_worker = False

    def begin_worker(self, **_signal: object) -> None:
        """Close idle sessions from now on: in this process only tasks of a worker's threads use connections."""
        self._is_in_worker = True

    def begin_task(self, **_signal: object) -> None:
        """Keep this thread's connection open, if it is usable."""
        with self._changed:
            self._idle.pop(connections[DEFAULT_DB_ALIAS], None)
        close_old_connections()

    def end_task(self, **_signal: object) -> None:
        """Let this thread's connection be closed unless the thread soon has another task."""
        close_old_connections()
        own = connections[DEFAULT_DB_ALIAS]
        if not self._is_in_worker or own.connection is None:
            return
        with self._changed:
            self._idle[own] = time.monotonic()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._close_idle, name="idle-sessions", daemon=True
                )
                self._thread.start()

    def _close_idle(self) -> None:
        """Close what has been idle for long enough; end when nothing is idle."""
        while True:
            with self._changed:
                # A thread that begins a task waits until its connection is closed.
                now = time.monotonic()
                for idle, since in list(self._idle.items()):
                    if now - since >= IDLE_SECONDS:
                        del self._idle[idle]
                        _close(idle)
                if not self._idle:
                    self._thread = None
                    return
                pause = min(self._idle.values()) + IDLE_SECONDS - now
            time.sleep(max(pause, IDLE_SECONDS / 10))


def _close(idle: BaseDatabaseWrapper) -> None:
    idle.inc_thread_sharing()
    try:
        idle.close()
    except DatabaseError:
        logger.warning("an idle session could not be closed", exc_info=True)
    finally:
        idle.dec_thread_sharing()


idle_sessions = IdleSessions()
