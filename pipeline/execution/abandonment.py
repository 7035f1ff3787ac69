"""Abort calls whose results are not needed, because their run was canceled or lost, or the worker is stopping.

A thread that is waiting for a model has no database connection, so it can't detect this itself. One thread per process
watches all calls.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection
from django.utils.translation import gettext as _

from core.network.http_exchange import Group, current_group
from pipeline.llm.types import ModelClient
from pipeline.models import Run
from pipeline.scheduling.run_leases import Lease

logger = logging.getLogger(__name__)

_INTERVAL = 1.0  # seconds between checks of the runs


class CallWatch:
    """A watcher of this process's calls in flight, by run."""

    def __init__(self) -> None:
        self._groups: dict[Lease, Group] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, lease: Lease) -> Iterator[None]:
        """Abort calls made in the block once the run belongs to another worker or is canceled."""
        group = Group()
        token = current_group.set(group)
        with self._lock:
            self._groups[lease] = group
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._look_on, name="run-watch", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            current_group.reset(token)
            with self._lock:
                self._groups.pop(lease, None)

    def _look_on(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(_INTERVAL)
            with self._lock:
                groups = dict(self._groups)
                if not groups:
                    self._thread = None
                    break
            try:
                self._look(groups)
            except DatabaseError:
                # The database is unreachable, so the owners of the runs are unknown. Calls continue.
                logger.warning("could not check the runs in progress", exc_info=True)
                connection.close()
        connection.close()

    @staticmethod
    def _look(groups: dict[Lease, Group]) -> None:
        ids = [lease.run_id for lease in groups]
        rows = Run.objects.filter(pk__in=ids).values_list("pk", "owner", "fence")
        held = {pk: (owner, fence) for pk, owner, fence in rows}
        for lease, group in groups.items():
            mine = (lease.owner, lease.fence)
            # A run that this query does not return may still belong to this worker.
            if held.get(lease.run_id, mine) != mine:
                logger.info("abandoning the calls of run %s", lease.run_id)
                group.abandon(_("The run was canceled, or another worker took over the run."))


call_watch = CallWatch()


def abandon_calls_after(client: ModelClient, *, seconds: float) -> threading.Timer:
    """Let calls in flight continue for this many seconds, then close their connections so that the process can exit."""
    abandon = getattr(client, "abandon_all", None)
    timer = threading.Timer(seconds, abandon or (lambda _why: None), [_("The worker had to stop.")])
    timer.daemon = True
    timer.start()
    return timer
