"""The web server's socket, opened first, so that a port in use is reported immediately."""

from __future__ import annotations

import errno
import http.client
import socket
from contextlib import closing

from scriptsmith_site.embedded.errors import CannotStart

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def listen(address: str, port: int) -> socket.socket:
    """Return a listening socket.

    Port 0 selects a free port. Raises CannotStart with a message that says what to change.
    """
    try:
        family, _, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise CannotStart(
            f"SCRIPTSMITH_BIND={address} is not a valid address: {error.strerror}"
        ) from error
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise CannotStart(_advice(address, port, error)) from error
    return listener


def _advice(address: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} is in use. Stop the program that uses it, or choose another port: "
            "PORT=8001 make run"
        )
    if error.errno == errno.EACCES:
        return f"port {port} is reserved for root. Choose a port from 1024 up, such as PORT=8000"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"SCRIPTSMITH_BIND={address} is not an address of this machine"
    return f"can't listen on {address} port {port}: {error.strerror}"


def url_of(listener: socket.socket) -> str:
    """Return the URL to open in a browser on this machine."""
    address, port = listener.getsockname()[:2]
    host = _ANY.get(address, address)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def answers(listener: socket.socket, path: str) -> bool:
    """Return whether the web server behind this socket responds without a server error."""
    address, port = listener.getsockname()[:2]
    with closing(http.client.HTTPConnection(_ANY.get(address, address), port, timeout=2)) as web:
        try:
            web.request("GET", path, headers={"Host": "localhost", "X-Forwarded-Proto": "https"})
            return web.getresponse().status < 500
        except (OSError, http.client.HTTPException):
            return False
