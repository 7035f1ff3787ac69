"""The health check of a worker, a runner or the scheduler in a container.

    python -I scriptsmith_site/embedded/worker_healthcheck.py [runner|scheduler]

It checks a file rather than the database, because restarting a worker would not fix the database. It needs only Python,
because it runs every few seconds. The file is touched by the worker's heartbeat (`pipeline.scheduling.heartbeat`), by a
thread of the runner (`scriptsmith_site.worker`) and by each pass of the scheduler (`scriptsmith_site.scheduler`).
"""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

# A heartbeat is due every quarter of a lease, which lasts 20 seconds by default.
SECONDS = 60.0
RUNNER, SCHEDULER = "runner", "scheduler"


def file_of(data: Path, host: str, part: str = "") -> Path:
    """Return the file that a host's worker touches, or its runner or scheduler if `part` names it.

    Containers share the data folder.
    """
    return data / "workers" / (f"{part}@{host}" if part else host)


def is_alive(file: Path, *, now: float) -> bool:
    """Return whether the file was touched within the last SECONDS. `now` is in seconds since 1970."""
    try:
        return now - file.stat().st_mtime < SECONDS
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    folder = Path(os.environ.get("SCRIPTSMITH_DATA") or ".data")
    sign = file_of(folder, socket.gethostname(), *sys.argv[1:])
    sys.exit(0 if is_alive(sign, now=time.time()) else f"no recent heartbeat in {sign}")
