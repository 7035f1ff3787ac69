"""Find free loopback ports for servers that a test starts."""

from __future__ import annotations

import random
import socket

# These ports are below the ephemeral range (32768 and above on Linux), so outgoing connections do not use them.
_PORTS = range(20_000, 32_000)
_draw = random.SystemRandom()


def free_port() -> int:
    """Return a port that no process is listening on."""
    while True:
        port = _draw.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
