"""Where the demo model listens at present, and how a command starts one for itself."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

_START_SECONDS = 20


def find_demo_model() -> str | None:
    """Its address, or None where none was announced, or the one that was is dead."""
    if settings.SCRIPTSMITH_DEMO_MODEL_URL:
        return str(settings.SCRIPTSMITH_DEMO_MODEL_URL)
    return _read_announcement(settings.LAYOUT.demo_model)


@contextlib.contextmanager
def demo_model_running() -> Iterator[None]:
    """A demo model for as long as the block runs: the one that is there, or one of our own."""
    if find_demo_model():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="scriptsmith-demo-") as folder:
        announcement = Path(folder) / "demo-model.json"
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "pipeline.standin",
                "--port",
                "0",
                "--announce",
                str(announcement),
            ],
            cwd=settings.BASE_DIR,
        )
        try:
            settings.SCRIPTSMITH_DEMO_MODEL_URL = _wait_for(announcement, process)
            yield
        finally:
            settings.SCRIPTSMITH_DEMO_MODEL_URL = ""
            process.terminate()
            process.wait(timeout=10)


def _read_announcement(path: Path) -> str | None:
    try:
        said = json.loads(path.read_text())
        os.kill(int(said["pid"]), 0)  # signal 0 only asks whether the process is there
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return f"http://127.0.0.1:{said['port']}"


def _wait_for(announcement: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        url = _read_announcement(announcement)
        if url:
            return url
        time.sleep(0.05)
    raise RuntimeError("The demo model did not start.")
