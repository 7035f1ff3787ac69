"""The log of requests, replies and simulated charges."""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path

# Number of calls kept in memory. Totals and the log file include all calls.
_KEPT = 2000


@dataclass
class Call:
    """A logged request. Times are in seconds since the epoch, and `ended` is None until the answer is sent."""

    number: int
    request_id: str
    path: str
    started: float = field(default_factory=time.time)
    ended: float | None = None
    status: int | None = None
    model: str = ""
    task: str = ""
    mode: str = ""
    billed: bool = False
    fault: str | None = None
    error: str | None = None
    stop_reason: str | None = None
    usage: dict[str, object] | None = None
    # The Message Batch that the call concerns or belongs to. `custom_id` is set only inside a batch.
    batch: str = ""
    custom_id: str = ""
    request_sha256: str = ""
    request: object = None


class CallLog:
    """The log of calls in memory and, optionally, in a JSON Lines file without the requests."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._calls: deque[Call] = deque(maxlen=_KEPT)
        self._totals = {"requests": 0, "billed": 0, "input_tokens": 0, "output_tokens": 0}

    def clear(self) -> None:
        """Remove every call from memory, but keep the file."""
        self._calls.clear()
        self._totals = dict.fromkeys(self._totals, 0)

    def open(self, *, path: str, request_id: str) -> Call:
        """Record an incoming request."""
        self._totals["requests"] += 1
        call = Call(self._totals["requests"], request_id, path)
        self._calls.append(call)
        return call

    def read(self, call: Call, *, body: bytes, request: object) -> None:
        """Record a request's body."""
        call.request_sha256 = hashlib.sha256(body).hexdigest()
        call.request = request

    def bill(self, call: Call, usage: dict[str, object], *, stop_reason: str) -> None:
        """Record that an answer was generated, even if it never reaches the client."""
        call.billed = True
        call.usage = usage
        call.stop_reason = stop_reason
        self._totals["billed"] += 1
        inputs = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        self._totals["input_tokens"] += sum(_number(usage[name]) for name in inputs)
        self._totals["output_tokens"] += _number(usage["output_tokens"])

    def settle(self, call: Call, *, status: int) -> None:
        """Record the response status and write the call to the file."""
        call.status = status
        if self._file:
            line = {
                name: value
                for name, value in asdict(call).items()
                if name not in ("request", "ended")
            }
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def close(self, call: Call) -> None:
        """Record that the answer was sent or the client disconnected."""
        call.ended = time.time()

    def report(self, *, after: int = 0) -> dict[str, object]:
        """Return the calls with a number above `after`, and the totals of all calls."""
        return {
            "calls": [asdict(call) for call in self._calls if call.number > after],
            "totals": dict(self._totals),
        }


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
