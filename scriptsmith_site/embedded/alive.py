"""The health check of a worker in a container: whether it has given a sign of life lately.

    python -I scriptsmith_site/embedded/alive.py

By a file and not by the database: restarting a worker mends no database. Needs nothing but Python, for it is
asked every few seconds. The worker's heartbeat (`pipeline.scheduling.heartbeat`) touches the file.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

# A heartbeat is due every quarter of a lease, which is 20 seconds unless set otherwise.
SECONDS = 60.0


def file_of(data: Path, host: str) -> Path:
    """Where the worker of a host leaves its sign: containers share the data folder."""
    return data / "workers" / host


def is_alive(file: Path, *, now: float) -> bool:
    """Whether the file was touched lately; `now` in seconds since 1970."""
    try:
        return now - file.stat().st_mtime < SECONDS
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    sign = file_of(Path(os.environ.get("SCRIPTSMITH_DATA") or ".data"), socket.gethostname())
    sys.exit(0 if is_alive(sign, now=time.time()) else f"no sign of life in {sign}")
