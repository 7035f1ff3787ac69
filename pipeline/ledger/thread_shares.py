"""Limit each endpoint's share of a worker's threads, so that a slow server can block only some threads.

The limit on calls in flight (`capacity`) covers all workers. This limit covers one process, which has few threads. A
run that is waiting for a slow server occupies a thread.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from core.database.clock import database_now
from pipeline.ledger.capacity import RunMustWait
from pipeline.models import Endpoint

# How long a run without a thread waits before it retries. The end of another call wakes the run sooner.
_PAUSE = timedelta(seconds=1)
_KNOWN_FOR = 10.0  # seconds


class ThreadQuota:
    """The number of threads in this process that are waiting for each endpoint.

    If only one endpoint is on, it may use all threads. Otherwise, each endpoint may use at most three quarters of the
    threads. Once that many threads are in use in total, only endpoints with few threads get more, up to a sixteenth of
    all threads.
    """

    def __init__(self, threads: int) -> None:
        self._most = max(1, threads - max(1, threads // 4))
        self._few = max(1, threads // 16)
        self._held: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._are_several, self._known_at = False, -_KNOWN_FOR

    @contextmanager
    def held(self, endpoints: Collection[int]) -> Iterator[None]:
        """Occupy this thread with calls to these endpoints. Raises RunMustWait if an endpoint has no share left."""
        several = self._several_are_on()
        with self._lock:
            for endpoint_id in endpoints:
                if several and not self._is_free(endpoint_id):
                    raise RunMustWait(
                        _("This worker has no free thread for this endpoint."),
                        until=database_now() + _PAUSE,
                        waits_for=endpoint_id,
                    )
            self._held.update(endpoints)
        try:
            yield
        finally:
            with self._lock:
                self._held.subtract(endpoints)

    def _is_free(self, endpoint_id: int) -> bool:
        mine, all_of_them = self._held[endpoint_id], sum(self._held.values())
        return mine < self._most if all_of_them < self._most else mine < self._few

    def _several_are_on(self) -> bool:
        """Return whether more than one endpoint is on. The database is queried every few seconds."""
        now = time.monotonic()
        if now - self._known_at >= _KNOWN_FOR:
            on = sum(endpoint.is_on for endpoint in Endpoint.objects.only("name", "enabled"))
            self._are_several, self._known_at = on > 1, now
        return self._are_several


thread_quota = ThreadQuota(settings.SCRIPTSMITH_WORKER_THREADS)
