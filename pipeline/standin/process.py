"""Run a demo model as a separate process while a block runs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 20


class StandInNotStarted(RuntimeError):
    """The process exited or did not announce its address."""


@contextlib.contextmanager
def standin_running(options: Sequence[str] = ()) -> Iterator[str]:
    """Start a demo model on a free port and yield its address. Raises StandInNotStarted."""
    with tempfile.TemporaryDirectory(prefix="scriptsmith-stand-in-") as folder:
        announcement = Path(folder) / "announcement.json"
        place = ["--port", "0", "--announce", str(announcement)]
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.standin", *place, *options], cwd=_ROOT
        )
        try:
            yield _wait_for(announcement, process)
        finally:
            process.terminate()
            process.wait(timeout=10)


def read_announcement(path: Path) -> str | None:
    """Return the address that a demo model wrote to this file, or None if it is not running."""
    try:
        said = json.loads(path.read_text())
        os.kill(int(said["pid"]), 0)  # Signal 0 only checks that the process exists.
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return f"http://127.0.0.1:{said['port']}"


def _wait_for(announcement: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if url := read_announcement(announcement):
            return url
        time.sleep(0.02)
    raise StandInNotStarted("The stand-in model did not start.")
