"""Run a module as a program with access to the loopback interface only.

This is for third-party programs, which may request prices, models or news when they start.

Usage: python -m bench.support.loopback_only MODULE [ARGUMENT ...]
"""

from __future__ import annotations

import runpy
import sys
from ipaddress import ip_address

_WITH_ADDRESS = ("socket.connect", "socket.bind", "socket.sendto")


def refuse_others(event: str, given: tuple[object, ...]) -> None:
    """Raise PermissionError for lookups, connections and listeners outside of loopback. Use this as an audit hook."""
    if event == "socket.getaddrinfo":
        host = given[0]
    elif event in _WITH_ADDRESS and isinstance(given[1], tuple):
        host = given[1][0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    if host not in (None, "", "localhost") and not _is_loopback(str(host)):
        raise PermissionError(f"{host} is not on this machine")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


if __name__ == "__main__":
    sys.addaudithook(refuse_others)
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
