"""The lock that decides which process starts and stops the embedded servers. All processes that use them share it.

The kernel releases the lock when a process exits for any reason, so the set of users is always correct. A process that
gets the exclusive lock is the first or the last user, and may migrate the database or stop the servers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from scriptsmith_site.embedded.folders import make_data_folder
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.locks import FileLock, held
from scriptsmith_site.embedded.servers.postgres import Postgres
from scriptsmith_site.embedded.servers.redis import Redis

_CHANGE_SECONDS = 600.0  # a migration of a large database may take minutes


class Server(Protocol):
    """A server that this product starts and stops. `start` raises CannotStart.

    `how_ended` returns an empty string while the server runs.
    """

    name: str

    def is_running(self) -> bool: ...
    def how_ended(self) -> str: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


def is_set(variable: str) -> bool:
    """Return whether an environment variable has a nonblank value."""
    return bool(os.environ.get(variable, "").strip())


def servers_of(layout: Layout) -> list[Server]:
    """Return the servers that this product starts, because their URLs are not configured."""
    servers: list[Server] = []
    if not is_set("DATABASE_URL"):
        servers.append(Postgres(layout))
    if not is_set("REDIS_URL"):
        servers.append(Redis(layout))
    return servers


class Use:
    """One process's use of a data folder's servers."""

    def __init__(self, layout: Layout, servers: Sequence[Server]) -> None:
        self._layout = layout
        self.servers = servers
        self._users = FileLock(layout.users_lock)

    def begin(self, prepare: Callable[[], None] | None, *, when_alone: bool = True) -> None:
        """Start the servers, call `prepare`, and register this process as a user of the servers.

        No other process can start to use the servers before `prepare` returns. With `when_alone`, `prepare` is called
        only if no other process uses the servers. Raises CannotStart and the exceptions of `prepare`. On an error,
        servers that were not in use are stopped.
        """
        make_data_folder(self._layout)
        with held(self._layout.change_lock, seconds=_CHANGE_SECONDS):
            alone = self._users.try_exclusive()
            try:
                self._start_all()
                if prepare is not None and (alone or not when_alone):
                    prepare()
            except BaseException:
                if alone:
                    self._stop_all()
                self._users.release()
                raise
            self._users.share()

    def restart(self, server: Server) -> None:
        """Restart a server that has exited. Raises CannotStart."""
        with held(self._layout.change_lock, seconds=_CHANGE_SECONDS):
            server.start()

    def end(self) -> bool:
        """Stop the servers and return True, or return False if another process still uses them."""
        with held(self._layout.change_lock, seconds=_CHANGE_SECONDS):
            alone = self._users.try_exclusive()
            if alone:
                self._stop_all()
            self._users.release()
        return alone

    def all_run(self) -> bool:
        return all(server.is_running() for server in self.servers)

    def _start_all(self) -> None:
        for server in self.servers:
            server.start()

    def _stop_all(self) -> None:
        for server in reversed(self.servers):
            server.stop()


@contextmanager
def running(layout: Layout, *, prepare: Callable[[], None] | None = None) -> Iterator[None]:
    """While the block runs, run the servers whose URLs are not configured. Raises CannotStart.

    If no other process uses the servers, `prepare` is called first, for example to migrate the database.
    """
    servers = servers_of(layout)
    if not servers:
        yield
        return
    use = Use(layout, servers)
    use.begin(prepare)
    try:
        yield
    finally:
        use.end()
