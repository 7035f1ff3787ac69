"""One request and its reply under one time limit; another thread can abort it.

A read timeout only limits the wait for the next byte, so a slow drip outlasts it. Here, the whole exchange has one
deadline: before every operation of its connection, the waiting thread checks how much time is left.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Lock


class OutOfTime(Exception):
    """The exchange has reached its time limit."""


class Abandoned(Exception):
    """The caller no longer waits for the reply."""


class Exchange:
    """The deadline of an exchange and the socket that it currently uses."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds
        self._socket: socket.socket | None = None
        self._lock = Lock()
        self.abandoned = ""  # the reason, once aborted
        self.connected = False  # from then on the server may have received the request

    def left(self, most: float | None = None) -> float:
        """Return the remaining seconds, at most `most`. Raises OutOfTime and Abandoned."""
        if self.abandoned:
            raise Abandoned(self.abandoned)
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left if most is None else min(left, most)

    def use(self, connection: socket.socket) -> None:
        """Set the socket to shut down if the exchange is aborted. Raises Abandoned."""
        with self._lock:
            if self.abandoned:
                raise Abandoned(self.abandoned)
            self._socket = connection

    def abandon(self, why: str) -> None:
        """Abort it from any thread and wake the waiting thread; the connection can't be used again."""
        with self._lock:
            self.abandoned = self.abandoned or why
            if self._socket is not None:
                with suppress(OSError):
                    # Not the TLS socket's own method, which is not safe from another thread.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def end(self) -> None:
        """End the exchange, so that another one may use its connection."""
        with self._lock:
            self._socket = None


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def under_way(exchange: Exchange) -> Iterator[None]:
    """Run the block, with all that this thread connects, sends and reads, as part of the exchange."""
    token = _current.set(exchange)
    try:
        yield
    finally:
        _current.reset(token)
        exchange.end()


def current_exchange() -> Exchange:
    """Return this thread's exchange. Raises LookupError outside of one."""
    exchange = _current.get()
    if exchange is None:
        raise LookupError("no exchange is under way in this thread")
    return exchange


class Group:
    """The exchanges of one piece of work, such as a run, which are aborted together."""

    def __init__(self) -> None:
        self._exchanges: set[Exchange] = set()
        self._why = ""
        self._lock = Lock()

    @contextmanager
    def holding(self, exchange: Exchange) -> Iterator[None]:
        """Add the exchange to the group until the end of the block."""
        with self._lock:
            self._exchanges.add(exchange)
            why = self._why
        if why:
            exchange.abandon(why)
        try:
            yield
        finally:
            with self._lock:
                self._exchanges.discard(exchange)

    def abandon(self, why: str) -> None:
        """Abort all exchanges, including those that join later."""
        with self._lock:
            self._why = why
            exchanges = list(self._exchanges)
        for exchange in exchanges:
            exchange.abandon(why)


# The group of this thread's work, set by code that may need to abort it.
current_group: ContextVar[Group | None] = ContextVar("group", default=None)
