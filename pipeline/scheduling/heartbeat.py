"""The heartbeat: one thread per process renews the leases of its runs and records that the worker is alive.

The thread never waits for a lock. It skips a run whose row is locked and retries it soon, so that a blocked run can't
make the other leases expire.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models.functions import Now

from core.process import owner
from pipeline.models import Worker
from pipeline.scheduling.run_leases import Lease, lease_length

logger = logging.getLogger(__name__)

# How long the row of a killed worker is kept.
_REMEMBERED = timedelta(hours=1)

_MINE = """
SELECT run.id FROM pipeline_run AS run
JOIN unnest(%(runs)s::bigint[], %(fences)s::bigint[]) AS held (run, fence)
    ON held.run = run.id AND held.fence = run.fence
WHERE run.owner = %(owner)s AND run.state = 'running'
"""
# One round trip, because after each round trip this thread competes with all threads of the worker for the GIL.
_RENEW = f"""
WITH mine AS ({_MINE}), free AS ({_MINE} FOR NO KEY UPDATE OF run SKIP LOCKED), renewed AS (
    UPDATE pipeline_run AS run SET lease_until = clock_timestamp() + %(lease)s
    FROM free WHERE run.id = free.id
    RETURNING run.id
)
SELECT id FROM mine EXCEPT SELECT id FROM renewed
"""


class Heartbeat:
    """A thread that renews the leases of this process over its own database connection."""

    def __init__(self) -> None:
        self._held: dict[int, Lease] = {}
        self._lock = threading.Lock()
        self._signing = threading.Lock()  # acquired before `_lock`
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._worker: Worker | None = None
        self._sign: Path | None = None

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[None]:
        """Keep the lease alive while the block runs."""
        with self._lock:
            self._held[lease.run_id] = lease
            self._see_that_it_beats()
        try:
            yield
        finally:
            with self._lock:
                if self._held.get(lease.run_id) == lease:
                    del self._held[lease.run_id]

    def announce_worker(self, *, threads: int, sign: Path | None = None) -> None:
        """Start reporting this process as a worker, even while it has no runs.

        Each beat writes the worker's row and touches the file `sign`, for health checks without database access.
        """
        with self._lock:
            self._sign = sign
            self._worker = Worker(name=owner(), host=socket.gethostname()[:100], threads=threads)
            self._see_that_it_beats()
            self._wake.set()

    def withdraw_worker(self) -> None:
        """Stop reporting this process as a worker, so that its exit does not count as a loss."""
        with self._signing:
            with self._lock:
                worker, self._worker = self._worker, None
            if self._sign is not None:
                with suppress(OSError):
                    self._sign.unlink()
            if worker is not None:
                Worker.objects.filter(name=worker.name).delete()

    def _see_that_it_beats(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._beat, name="run-heartbeat", daemon=True)
            self._thread.start()

    def _beat(self) -> None:
        interval = settings.SCRIPTSMITH_RUN_LEASE_SECONDS / 4
        while True:
            self._wake.wait(interval)
            self._wake.clear()
            with self._lock:
                if not self._held and self._worker is None:
                    self._thread = None
                    break
            began = time.monotonic()
            try:
                self._leave_sign()
                self._renew_all(until=began + interval)
                self._give_sign_of_life(took=time.monotonic() - began)
            except DatabaseError:
                # The database is unreachable. Leases expire, and the runs resume once the database is back.
                logger.warning("could not renew leases", exc_info=True)
                connection.close()
        connection.close()

    def _renew_all(self, *, until: float) -> None:
        """Renew every lease once, and retry locked runs until the next beat is due."""
        missing: Collection[int] | None = None
        while missing is None or missing:
            with self._lock:
                held = [
                    lease
                    for lease in self._held.values()
                    if missing is None or lease.run_id in missing
                ]
            missing = renew(held)
            if missing:
                if time.monotonic() > until:
                    logger.warning("%s runs stayed locked during a whole heartbeat", len(missing))
                    return
                time.sleep(min(0.1, settings.SCRIPTSMITH_RUN_LEASE_SECONDS / 40))

    def _leave_sign(self) -> None:
        if self._sign is None or self._worker is None:
            return
        try:
            self._sign.parent.mkdir(parents=True, exist_ok=True)
            self._sign.touch()
        except OSError:
            # Renewing leases takes priority over this file.
            logger.warning("could not write the heartbeat to %s", self._sign, exc_info=True)

    def _give_sign_of_life(self, *, took: float) -> None:
        """Record that the worker is alive, and delete old rows of stopped workers."""
        with self._signing:
            if self._worker is None:
                return
            mine = Worker.objects.filter(name=self._worker.name)
            if not mine.update(seen_at=Now(), beat_milliseconds=round(1000 * took)):
                self._worker.save(force_insert=True)
            Worker.objects.filter(seen_at__lt=Now() - _REMEMBERED).delete()


def renew(held: Collection[Lease]) -> set[int]:
    """Renew these leases and return the runs that were locked."""
    if not held:
        return set()
    values: dict[str, Any] = {
        "runs": [lease.run_id for lease in held],
        "fences": [lease.fence for lease in held],
        "owner": owner(),
        "lease": lease_length(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, values)
        return {pk for (pk,) in cursor.fetchall()}


heartbeat = Heartbeat()
