"""The state of the local models: whether they are loaded, their memory and their speed."""

from __future__ import annotations

import re
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from django.conf import settings

from pipeline.clients.local_models import LOCAL, LocalModel, announced_models


def local_models_now() -> list[dict[str, object]] | None:
    """Return each model with its memory in bytes and its tokens per second, or None if the *local* endpoint is
    disabled.
    """
    if LOCAL not in settings.SCRIPTSMITH_ENDPOINTS:
        return None
    return [
        {"model": model, "memory": _memory_of(model.pid), "speed": speed_of(model)}
        for model in announced_models()
    ]


def _memory_of(pid: int) -> int | None:
    """Return a process's memory in bytes, including its share of the memory shared with other processes."""
    try:
        found = re.search(r"^Pss: +(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def speed_of(model: LocalModel) -> float | None:
    """Return the average tokens per second since the server's start, or None before its first reply."""
    with closing(HTTPConnection("127.0.0.1", model.port, timeout=1.0)) as server:
        try:
            server.request("GET", "/metrics", headers={"authorization": f"Bearer {model.key}"})
            text = server.getresponse().read().decode(errors="replace")
        except (OSError, HTTPException):
            return None
    found = re.search(r"^llamacpp:predicted_tokens_seconds ([\d.]+)", text, re.M)
    return float(found[1]) or None if found else None
