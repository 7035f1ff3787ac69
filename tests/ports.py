"""Ports of loopback for servers that a test starts a moment later."""

from __future__ import annotations

import random
import socket

# Below the ports that connections are given (32768 and above on Linux): none of the suite's own takes it meanwhile.
_PORTS = range(20_000, 32_000)
_draw = random.SystemRandom()


def free_port() -> int:
    """A port that nobody listens at."""
    while True:
        port = _draw.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
