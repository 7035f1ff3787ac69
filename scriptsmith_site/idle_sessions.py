"""Close the database connections of worker threads that have been idle for some seconds.

Django closes a thread's connection only in that thread, so an idle thread's connection would stay open. Each connection
uses memory in the worker and in PostgreSQL, and reopening it takes only a few milliseconds.
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
    """The connections of this process's idle threads, with the time of each thread's last task."""

    def __init__(self) -> None:
        self._idle: dict[BaseDatabaseWrapper, float] = {}
        self._changed = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_in_worker = False

    def begin_worker(self, **_signal: object) -> None:
        """Enable the closing of idle connections. In a worker process, only task threads use connections."""
        self._is_in_worker = True

    def begin_task(self, **_signal: object) -> None:
        """Keep this thread's connection open if it is usable."""
        with self._changed:
            self._idle.pop(connections[DEFAULT_DB_ALIAS], None)
        close_old_connections()

    def end_task(self, **_signal: object) -> None:
        """Mark this thread's connection as idle, so that it is closed unless the thread soon starts another task."""
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
        """Close connections that have been idle for IDLE_SECONDS, until no connection is idle."""
        while True:
            with self._changed:
                # Under this lock, no task can start to use a connection that is being closed.
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
        logger.warning("could not close an idle session", exc_info=True)
    finally:
        idle.dec_thread_sharing()


idle_sessions = IdleSessions()
