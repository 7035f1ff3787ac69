"""A request and its reply with a common deadline. Another thread can abort the exchange.

A read timeout only limits the wait for the next byte, so a slow server can delay the reply indefinitely. An exchange
therefore has a deadline, and each operation of its connection has only the remaining time.
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
    """The exchange was aborted, because the caller no longer needs the reply."""


class Exchange:
    """The deadline of an exchange and the socket that it currently uses."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds
        self._socket: socket.socket | None = None
        self._lock = Lock()
        self.abandoned = ""  # the reason, if the exchange was aborted
        self.connected = False  # if true, the server may have received the request

    def left(self, most: float | None = None) -> float:
        """Return the remaining seconds, at most `most`. Raises OutOfTime and Abandoned."""
        if self.abandoned:
            raise Abandoned(self.abandoned)
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left if most is None else min(left, most)

    def use(self, connection: socket.socket) -> None:
        """Set the socket, which is shut down if the exchange is aborted. Raises Abandoned."""
        with self._lock:
            if self.abandoned:
                raise Abandoned(self.abandoned)
            self._socket = connection

    def abandon(self, why: str) -> None:
        """Abort the exchange from any thread, and wake the waiting thread. The connection becomes unusable."""
        with self._lock:
            self.abandoned = self.abandoned or why
            if self._socket is not None:
                with suppress(OSError):
                    # Do not call the method of the TLS socket, which is not thread-safe.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def end(self) -> None:
        """End the exchange, so that another exchange can use its connection."""
        with self._lock:
            self._socket = None


_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextmanager
def under_way(exchange: Exchange) -> Iterator[None]:
    """Make `exchange` the current exchange of this thread for the block."""
    token = _current.set(exchange)
    try:
        yield
    finally:
        _current.reset(token)
        exchange.end()


def current_exchange() -> Exchange:
    """Return this thread's current exchange. Raises LookupError if no exchange is under way."""
    exchange = _current.get()
    if exchange is None:
        raise LookupError("no exchange is under way in this thread")
    return exchange


class Group:
    """The exchanges of a task, such as a run, which can be aborted together."""

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
        """Abort all exchanges of the group, including exchanges that are added later."""
        with self._lock:
            self._why = why
            exchanges = list(self._exchanges)
        for exchange in exchanges:
            exchange.abandon(why)


# The group of this thread's exchanges, set by code that may need to abort them.
current_group: ContextVar[Group | None] = ContextVar("group", default=None)
