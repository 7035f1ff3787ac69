"""Connections for the HTTP library: only to checked addresses, and within the time limit of an exchange.

A host is resolved once, each address is checked, and the connection uses one of the checked addresses. This prevents
DNS rebinding between the check and the connection. TLS verifies the host name as usual.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any

import httpcore2

from core.network.addresses import ForbiddenAddress
from core.network.http_exchange import Abandoned, Exchange, OutOfTime, current_exchange

_MOST_ADDRESSES = 4  # maximum number of addresses to try per host
_KEEPALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
)


class NotConnected(httpcore2.ConnectError):
    """The connection failed, so nothing was sent. The exception's cause is the reason."""


# A function that returns the permitted addresses of a host, or raises ForbiddenAddress if no address is permitted.
Choose = Callable[[str, Sequence[str]], list[str]]


class JudgedNetwork(httpcore2.NetworkBackend):
    """A network backend that connects only to addresses that `choose` permits."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first permitted address of the host that accepts the connection."""
        exchange = current_exchange()
        with _told_apart(httpcore2.ConnectTimeout, httpcore2.ConnectError):
            found = _resolver.find(host, port, within=exchange.left(timeout))
            try:
                chosen = self._choose(host, found)
            except ForbiddenAddress as refusal:
                raise NotConnected(str(refusal)) from refusal
            connection = _connect(chosen[:_MOST_ADDRESSES], port, exchange, timeout)
        return Stream(connection)

    def connect_unix_socket(self, *_given: Any, **_named: Any) -> httpcore2.NetworkStream:
        """Raise NotConnected, because Unix sockets can't reach other servers."""
        raise NotConnected("Unix sockets are not supported.")

    def sleep(self, seconds: float) -> None:
        """Raise NotImplementedError, because the HTTP library sleeps only between retries, which are disabled."""
        raise NotImplementedError


class Stream(httpcore2.NetworkStream):
    """A connection whose operations all count toward the time limit of the current exchange."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes, or empty bytes at the end of the stream."""
        with _told_apart(httpcore2.ReadTimeout, httpcore2.ReadError):
            self._begin_step(timeout)
            return self._socket.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send the whole buffer."""
        with _told_apart(httpcore2.WriteTimeout, httpcore2.WriteError):
            left = memoryview(buffer)
            while left:
                self._begin_step(timeout)
                left = left[self._socket.send(left) :]

    def close(self) -> None:
        """Close the socket immediately, even during an operation."""
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Return the connection secured with TLS. The certificate is verified for this host name."""
        with _told_apart(httpcore2.ConnectTimeout, httpcore2.ConnectError):
            try:
                self._begin_step(timeout)
                secured = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
                current_exchange().use(secured)
            except BaseException:
                self.close()
                raise
        return Stream(secured)

    def get_extra_info(self, info: str) -> Any:
        """Return an attribute that the HTTP library reads, or None if the attribute is unknown."""
        match info:
            case "ssl_object":
                return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
            case "socket":
                return self._socket
            case "client_addr":
                return self._socket.getsockname()
            case "server_addr":
                return self._socket.getpeername()
            case "is_readable":
                return _is_readable(self._socket)
        return None

    def _begin_step(self, timeout: float | None) -> None:
        exchange = current_exchange()
        exchange.use(self._socket)
        self._socket.settimeout(exchange.left(timeout))


class _Resolver:
    """A resolver that looks up each host in a separate thread, because a lookup can't be canceled."""

    def __init__(self) -> None:
        self._under_way: dict[tuple[str, int], Future[list[str]]] = {}
        self._lock = Lock()

    def find(self, host: str, port: int, *, within: float) -> list[str]:
        """Return the numeric addresses of a host without duplicates. Raises OSError and TimeoutError."""
        with self._lock:
            future = self._under_way.get((host, port))
            if future is None:
                future = self._under_way[host, port] = Future()
                Thread(target=self._look_up, args=(host, port), daemon=True).start()
        try:
            return future.result(timeout=within)
        except FutureTimeout:
            raise TimeoutError(f"the lookup of {host} timed out") from None

    def _look_up(self, host: str, port: int) -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            outcome: list[str] | Exception = list(dict.fromkeys(str(one[4][0]) for one in found))
        except (OSError, UnicodeError) as error:
            outcome = error if isinstance(error, OSError) else OSError(str(error))
        with self._lock:
            future = self._under_way.pop((host, port))
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


_resolver = _Resolver()


def _connect(
    addresses: list[str], port: int, exchange: Exchange, timeout: float | None
) -> socket.socket:
    last: OSError | None = None
    for number, address in enumerate(addresses):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            for option in _KEEPALIVE:
                connection.setsockopt(*option)
            exchange.use(connection)
            # Divide the remaining time among the addresses.
            connection.settimeout(exchange.left(timeout) / (len(addresses) - number))
            connection.connect((address, port))
        except OSError as error:
            connection.close()
            exchange.left()
            last = error
        except BaseException:
            connection.close()
            raise
        else:
            exchange.connected = True
            return connection
    raise last or OSError("the host has no address")


def _is_readable(connection: socket.socket) -> bool:
    """Return whether the socket has data or is at the end of the stream. A readable idle connection was closed."""
    number = connection.fileno()
    if number < 0:
        return True
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def _told_apart(
    late: type[httpcore2.TimeoutException], broken: type[httpcore2.NetworkError]
) -> Iterator[None]:
    """Convert socket errors to exceptions of the HTTP library, with the original error as the cause."""
    try:
        yield
    except (OutOfTime, TimeoutError) as error:
        raise late(str(error)) from error
    except (Abandoned, OSError) as error:
        raise broken(str(error)) from error
