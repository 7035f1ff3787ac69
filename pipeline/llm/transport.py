"""An HTTP transport that reads and decompresses replies in chunks, up to a size limit and from one server only.

It follows no redirects and uses no proxy from the environment, because both would send a prompt to an address that no
administrator has confirmed.
"""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import httpcore2
import httpx2

from core.network.connections import JudgedNetwork
from pipeline.llm.addresses import choose_addresses, goes_by_proxy

MOST_BYTES = 2_000_000
# An error reply is truncated at this length instead of being rejected.
_MOST_BYTES_OF_AN_ERROR = 64_000
_PIECE = 65_536
# If a server closes an idle connection just as a call reuses it, the call seems to have failed during the reply and may
# have been billed. Servers close idle connections after 5 s or more, so the pool closes them earlier.
_IDLE_SECONDS = 2.0


@dataclass(frozen=True)
class Limits:
    """The maximum size of a reply, compressed or decompressed, and the proxy for requests that leave the network."""

    most_bytes: int = MOST_BYTES
    proxy: str = ""


class UnusableReply(Exception):
    """A reply that was not read completely. `kind` is the reason as recorded in the ledger."""

    kind = "unusable"


class TooLarge(UnusableReply):
    kind = "too large"


class BadPacking(UnusableReply):
    kind = "bad encoding"


class Elsewhere(UnusableReply):
    """A request to a server other than the endpoint's, such as the URL of a batch's results. The request was
    not sent.
    """

    kind = "elsewhere"


class Transport(httpx2.BaseTransport):
    """The connections to one server."""

    def __init__(self, base_url: str, limits: Limits) -> None:
        self._origin = _origin_of(httpx2.URL(base_url))
        self._most_bytes = limits.most_bytes
        self._pool = _make_pool(base_url, limits.proxy)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the reply. It is decompressed and limited while it is read. Raises Elsewhere for other servers."""
        if _origin_of(request.url) != self._origin:
            raise Elsewhere(request.url.host)
        request.headers["accept-encoding"] = "identity"
        response = self._ask(request)
        headers = httpx2.Headers(response.headers)
        is_error = response.status >= 300
        most = _MOST_BYTES_OF_AN_ERROR if is_error else self._most_bytes
        try:
            unpacker = _unpacker_of(headers)
        except BadPacking:
            if not is_error:
                response.close()
                raise
            unpacker, most = _AsItIs(), 0
        body = _Body(response, unpacker, most, cuts=is_error)
        for name in ("content-encoding", "content-length", "transfer-encoding"):
            headers.pop(name, None)
        return httpx2.Response(
            response.status, headers=headers, stream=body, extensions=response.extensions
        )

    def close(self) -> None:
        """Close all connections, idle or not."""
        self._pool.close()

    def _ask(self, request: httpx2.Request) -> httpcore2.Response:
        assert isinstance(request.stream, httpx2.SyncByteStream)
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        asked = httpcore2.Request(
            request.method,
            url,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        # Do not convert exceptions, because the SDK wraps them and the client checks the cause.
        return self._pool.handle_request(asked)


class _Body(httpx2.SyncByteStream):
    """The decompressed body of a reply, as it arrives. After `most` bytes, the body is truncated or raises TooLarge."""

    def __init__(
        self, response: httpcore2.Response, unpacker: _AsItIs, most: int, *, cuts: bool
    ) -> None:
        self._response = response
        self._unpacker = unpacker
        self._most = most
        self._cuts = cuts

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._pieces()
        except UnusableReply:
            if not self._cuts:
                raise

    def _pieces(self) -> Iterator[bytes]:
        assert isinstance(self._response.stream, Iterable)
        received = unpacked = 0
        for packed in self._response.stream:
            received += len(packed)
            for piece in self._unpacker.unpack(packed):
                unpacked += len(piece)
                if unpacked > self._most:
                    raise TooLarge
                yield piece
            if received > self._most:
                raise TooLarge
        self._unpacker.finish()

    def close(self) -> None:
        """Close the reply. If the reply was not read completely, its connection is closed too."""
        self._response.close()


class _AsItIs:
    """A body without content encoding."""

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        """Yield the bytes unchanged."""
        yield packed

    def finish(self) -> None:
        """Do nothing, because there is no end marker."""


class _Unpacker(_AsItIs):
    """A gzip decompressor that works in pieces, to limit memory use for highly compressed data."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(16 + zlib.MAX_WBITS)

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        """Yield the decompressed bytes. Raises BadPacking for invalid data."""
        while not self._decompressor.eof:
            try:
                unpacked = self._decompressor.decompress(packed, _PIECE)
            except zlib.error as error:
                raise BadPacking(str(error)) from error
            packed = self._decompressor.unconsumed_tail
            if not (unpacked or packed):
                break
            yield unpacked

    def finish(self) -> None:
        """Raise BadPacking if the data is incomplete."""
        if not self._decompressor.eof:
            raise BadPacking("incomplete data")


def _origin_of(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _unpacker_of(headers: httpx2.Headers) -> _AsItIs:
    """Return the unpacker for these headers. Raises BadPacking for an unknown encoding."""
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        return _AsItIs()
    # We request no encoding, but some proxies compress all replies with gzip.
    if encoding not in ("gzip", "x-gzip"):
        raise BadPacking(f"unexpected encoding: {encoding[:40]!r}")
    return _Unpacker()


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return an SSL context with the certificates of the system or SSL_CERT_FILE. Cached, because creation is slow."""
    return httpx2.create_ssl_context()


def _make_pool(base_url: str, proxy: str) -> httpcore2.ConnectionPool:
    if goes_by_proxy(base_url, proxy):
        return httpcore2.HTTPProxy(
            proxy_url=proxy,
            ssl_context=_ssl_context(),
            keepalive_expiry=_IDLE_SECONDS,
            max_connections=None,
            network_backend=JudgedNetwork(partial(choose_addresses, is_encrypted=True)),
        )
    return httpcore2.ConnectionPool(
        ssl_context=_ssl_context(),
        keepalive_expiry=_IDLE_SECONDS,
        max_connections=None,
        network_backend=JudgedNetwork(
            partial(choose_addresses, is_encrypted=base_url.startswith("https:"))
        ),
    )
