"""A server on real loopback sockets that misbehaves in the way named by the first part of the path.

`Hostile()` in a `with` block runs the server in threads of this process. `python -m tests.hostile` runs it in its own
process and prints its addresses. The server counts requests, so that tests can compare the counts with the attempts in
the ledger.
"""

from __future__ import annotations

import json
import socket
import socketserver
import ssl
import struct
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import TracebackType

# A self-signed certificate for localhost. Its key protects nothing.
CERTIFICATE = Path(__file__).parent / "cases" / "tls" / "localhost.pem"
MB = 1_000_000
_PIECE = b" " * 65_536
_SCRIPT = "#!/bin/bash\nfind /var/tmp/exports -type f | wc -l\n"
MESSAGE: dict[str, object] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "any",
    "content": [{"type": "text", "text": f"```bash\n{_SCRIPT}```"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 7, "output_tokens": 9},
}
KINDS = (
    "drip",
    "drip-headers",
    "silent",
    "endless",
    "200-mb",
    "gzip-bomb",
    "bad-gzip",
    "redirect",
    "redirect-loop",
    "reset",
    "html",
    "oversized-headers",
    "usage-null",
    "usage-absurd",
    "large-script",
)


class Hostile:
    """The hostile server: for example, `url("drip")` is slow, and `tls_url` has a self-signed certificate."""

    def __init__(self, *, drip_seconds: float = 0.2) -> None:
        self.requests: Counter[str] = Counter()
        self.open: Counter[str] = Counter()  # connections being served
        self._lock = threading.Lock()
        self.ending = threading.Event()
        self.drip_seconds = drip_seconds
        self._plain = _Server(("127.0.0.1", 0), _Handler, self)
        self._secured = _SecuredServer(("127.0.0.1", 0), _Handler, self)

    @property
    def port(self) -> int:
        return int(self._plain.server_address[1])

    @property
    def tls_url(self) -> str:
        return f"https://localhost:{self._secured.server_address[1]}/tls"

    def url(self, kind: str) -> str:
        """Return the base URL of an endpoint that misbehaves in the given way."""
        return f"http://127.0.0.1:{self.port}/{kind}"

    def count(self, what: Counter[str], kind: str, step: int = 1) -> None:
        with self._lock:
            what[kind] += step

    def __enter__(self) -> Hostile:
        _large_script()  # builds the script before the first client needs it
        for server in (self._plain, self._secured):
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.ending.set()
        for server in (self._plain, self._secured):
            server.shutdown()
            server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], handler: type[_Handler], hostile: Hostile) -> None:
        super().__init__(address, handler)
        self.hostile = hostile

    def handle_error(self, *_given: object) -> None:
        """Suppress the traceback, because clients are expected to close connections early."""


class _SecuredServer(_Server):
    def finish_request(self, request: object, client_address: object) -> None:
        assert isinstance(request, socket.socket)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        self.hostile.count(self.hostile.requests, "handshake")
        with context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        """Handle requests one after another while the connection is open."""
        while self._handle_one():
            pass

    def _handle_one(self) -> bool:
        line = self.rfile.readline()
        if not line.strip():
            return False
        if not line.isascii():  # a TLS handshake
            return self._reply(b"", status="400 Bad Request") and False
        method, path, _version = line.decode().split(" ", 2)
        length = 0
        while (header := self.rfile.readline().strip()) != b"":
            name, _colon, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        self.rfile.read(length)
        hostile, kind = self.server.hostile, path.split("/")[1]
        if kind == "_counts":
            return self._reply(json.dumps(hostile.requests).encode())
        if method == "POST":  # free checks send GET requests, which are not counted
            hostile.count(hostile.requests, kind)
        hostile.count(hostile.open, kind)
        try:
            return bool(getattr(self, "_" + kind.replace("-", "_"), self._not_found)())
        finally:
            hostile.count(hostile.open, kind, -1)

    def _send(self, data: bytes) -> None:
        self.wfile.write(data)

    def _reply(
        self,
        body: bytes,
        *,
        status: str = "200 OK",
        headers: str = "",
        content_type: str = "application/json",
    ) -> bool:
        self._send(
            f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\n{headers}"
            f"content-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        return True

    def _not_found(self) -> bool:
        return self._reply(b"{}", status="404 Not Found")

    def _wait(self) -> bool:
        """Wait until the next byte is due. Return False if the client disconnected or the server is stopping."""
        if self.server.hostile.ending.wait(self.server.hostile.drip_seconds):
            return False
        self.request.setblocking(False)
        try:
            return bool(self.request.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        finally:
            self.request.setblocking(True)

    def _drip(self) -> bool:
        self._send(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{"
        )
        while self._wait():
            self._send(b" ")
        return False

    def _drip_headers(self) -> bool:
        self._send(b"HTTP/1.1 200 OK\r\nx-long: ")
        while self._wait():
            self._send(b"x")
        return False

    def _silent(self) -> bool:
        while self._wait():
            pass
        return False

    def _stream(self, pieces: Iterator[bytes], headers: str) -> bool:
        self._send(f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}\r\n".encode())
        for piece in pieces:
            self._send(piece)
            if self.server.hostile.ending.is_set():
                break
        return False

    def _endless(self) -> bool:
        chunk = f"{len(_PIECE):x}\r\n".encode() + _PIECE + b"\r\n"
        return self._stream(iter(lambda: chunk, b""), "transfer-encoding: chunked\r\n")

    def _200_mb(self) -> bool:
        size = 200 * MB
        pieces = (_PIECE for _ in range(size // len(_PIECE)))
        return self._stream(pieces, f"content-length: {size}\r\n")

    def _gzip_bomb(self) -> bool:
        return self._stream(_bomb(2_000 * MB), "content-encoding: gzip\r\nconnection: close\r\n")

    def _bad_gzip(self) -> bool:
        return self._reply(b"this is not gzip", headers="content-encoding: gzip\r\n")

    def _redirect(self) -> bool:
        where = f"http://localhost:{self.server.hostile.port}/elsewhere/v1/messages"
        return self._reply(b"", status="307 Temporary Redirect", headers=f"location: {where}\r\n")

    def _redirect_loop(self) -> bool:
        where = f"{self.server.hostile.url('redirect-loop')}/v1/messages"
        return self._reply(b"", status="307 Temporary Redirect", headers=f"location: {where}\r\n")

    def _reset(self) -> bool:
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.request.close()
        return False

    def _html(self) -> bool:
        page = b"<!doctype html><title>Sign in</title><h1>Please sign in</h1>"
        return self._reply(page, content_type="text/html")

    def _oversized_headers(self) -> bool:
        return self._reply(b"{}", headers="".join(f"x-{n}: {'y' * 1000}\r\n" for n in range(300)))

    def _message(self, **changes: object) -> bool:
        return self._reply(json.dumps(MESSAGE | changes).encode())

    def _usage_null(self) -> bool:
        return self._message(usage={"input_tokens": None, "output_tokens": None})

    def _usage_absurd(self) -> bool:
        return self._message(usage={"input_tokens": 10**30, "output_tokens": 9})

    def _large_script(self) -> bool:
        return self._reply(_large_script())


@cache
def _large_script() -> bytes:
    script = "#!/bin/bash\n" + "echo again\n" * (20 * MB // 11)
    content = [{"type": "text", "text": f"```bash\n{script}```"}]
    return json.dumps(MESSAGE | {"content": content}).encode()


def _bomb(size: int) -> Iterator[bytes]:
    """Yield `size` zero bytes, compressed by a factor of about a thousand."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    zeros = bytes(MB)
    for _ in range(size // MB):
        if packed := packer.compress(zeros):
            yield packed
    yield packer.flush()


def main() -> None:
    """Print the addresses as one line of JSON, then run until standard input is closed."""
    with Hostile() as hostile:
        print(json.dumps({"port": hostile.port, "tls_url": hostile.tls_url}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
