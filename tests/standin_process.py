"""Run the stand-in model in its own process, for tests that use the real SDK."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import cast

ROOT = Path(__file__).resolve().parents[1]
_START_SECONDS = 120.0


class StandIn:
    """A context manager for a stand-in on a free port. `options` are those of `python -m pipeline.standin`."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.pid = 0

    def start(self) -> StandIn:
        """Start the process and wait until it is listening, or raise RuntimeError."""
        with tempfile.TemporaryDirectory(prefix="standin-") as folder:
            announcement = Path(folder) / "announcement.json"
            command = [sys.executable, "-m", "pipeline.standin", "--announce", str(announcement)]
            self._process = subprocess.Popen([*command, *self._options], cwd=ROOT)
            deadline = time.monotonic() + _START_SECONDS
            while not announcement.exists():
                if self._process.poll() is not None or time.monotonic() > deadline:
                    self.stop()
                    raise RuntimeError("the stand-in did not start")
                time.sleep(0.01)
            announced = json.loads(announcement.read_text())
        self.url = f"http://127.0.0.1:{announced['port']}"
        self.pid = announced["pid"]
        return self

    def stop(self) -> int | None:
        """Stop the process with SIGTERM and return its exit status, or None if it was not started."""
        if self._process is None:
            return None
        self._process.terminate()
        try:
            status = self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._process = None
        return status

    def faults(self, *rules: dict[str, object]) -> None:
        """Queue fault rules (pipeline/standin/server/faults.py). An invalid rule raises HTTPError."""
        self._ask("/_standin/faults", rules)

    def pending_faults(self) -> list[dict[str, object]]:
        """Return the rules that can still apply, because they have been used fewer times than specified."""
        return cast(list[dict[str, object]], self._ask("/_standin/faults")["pending"])

    def calls(
        self, *, task: str | None = None, billed: bool | None = None
    ) -> list[dict[str, object]]:
        """Return the Messages API calls since the last reset, oldest first."""
        listed = cast(list[dict[str, object]], self._ask("/_standin/calls")["calls"])
        return [
            call
            for call in listed
            if task in (None, call["task"]) and billed in (None, call["billed"])
        ]

    def totals(self) -> dict[str, int]:
        """Return the numbers of requests, billed requests, input tokens and output tokens since the last reset."""
        return cast(dict[str, int], self._ask(f"/_standin/calls?after={sys.maxsize}")["totals"])

    def reset(self) -> None:
        """Clear calls, faults and the prompt cache."""
        self._ask("/_standin/reset", ())

    def __enter__(self) -> StandIn:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _ask(
        self, path: str, rules: Sequence[dict[str, object]] | None = None
    ) -> dict[str, object]:
        body = None if rules is None else json.dumps(list(rules)).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url + path, data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return cast(dict[str, object], json.load(answer))
