"""Record the durations of heartbeats and admissions in measured workers, as one JSON line each."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from celery.signals import worker_ready

# The environment names the file. Lines are short enough for atomic writes by multiple processes.
NOTES = Path(os.environ["BENCH_WATCH_FILE"])


def _note(kind: str, seconds: float) -> None:
    with NOTES.open("a") as file:
        file.write(json.dumps({"kind": kind, "took": seconds}) + "\n")


def _timed(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        began = time.monotonic()
        try:
            return function(*given, **named)
        finally:
            _note(kind, time.monotonic() - began)

    return call


@worker_ready.connect
def watch(**_signal: object) -> None:
    """Time all later heartbeats and admissions of this worker."""
    from pipeline.ledger import admission
    from pipeline.scheduling import heartbeat

    beat, admit = heartbeat.Heartbeat._renew_all, admission.ask_for_places

    def admit_timed(*given: Any) -> Any:
        rows = admit(*given)
        if rows:
            # Record the time in the database server, without the network and without waiting for Python's GIL.
            _note("wait", rows[0].took.total_seconds())
        return rows

    heartbeat.Heartbeat._renew_all = _timed("heartbeat", beat)  # type: ignore[method-assign]
    admission.ask_for_places = _timed("admission", admit_timed)
