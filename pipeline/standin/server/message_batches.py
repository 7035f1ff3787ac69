"""Message Batches of the demo model: kept in memory, processed in the background."""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pipeline.standin.server.delivery import write_json
from pipeline.standin.server.message_request import RequestRefused, refused

MOST_REQUESTS = 100_000
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_LIFETIME = timedelta(hours=24)
_MOST_LISTED = 1_000

# A function that answers a request from its parameters, batch id and custom id.
Answerer = Callable[[object, str, str], dict[str, object]]


@dataclass
class HeldBatch:
    """A batch. `results` maps custom ids to the results so far."""

    id: str
    requests: dict[str, object]
    seconds: float
    # The number of requests answered before the rest expires; None means that none expire.
    answered_of_expired: int | None = None
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended_at: datetime | None = None
    cancelled_at: datetime | None = None
    results: dict[str, dict[str, object]] = field(default_factory=dict)

    @property
    def status(self) -> str:
        if self.ended_at is not None:
            return "ended"
        return "in_progress" if self.cancelled_at is None else "canceling"

    def describe(self, base_url: str) -> dict[str, object]:
        """Return the batch as an API object. All requests count as processing until the whole batch ends."""
        ended = self.ended_at is not None
        kinds = Counter(str(result["type"]) for result in self.results.values()) if ended else {}
        counts = {
            kind: kinds.get(kind, 0) for kind in ("succeeded", "errored", "canceled", "expired")
        }
        return {
            "id": self.id,
            "type": "message_batch",
            "processing_status": self.status,
            "request_counts": {"processing": 0 if ended else len(self.requests), **counts},
            "created_at": _say(self.created_at),
            "expires_at": _say(self.created_at + _LIFETIME),
            "ended_at": _say(self.ended_at),
            "cancel_initiated_at": _say(self.cancelled_at),
            "archived_at": None,
            "results_url": f"{base_url}/v1/messages/batches/{self.id}/results" if ended else None,
        }

    def lines(self) -> Iterator[bytes]:
        """Yield the results as JSON lines, in a different order from the requests."""
        for name in sorted(self.results, key=lambda name: name[::-1]):
            yield write_json({"custom_id": name, "result": self.results[name]}) + b"\n"


class MessageBatches:
    """All batches since the last reset."""

    def __init__(self, answer: Answerer) -> None:
        self._answer = answer
        self._held: dict[str, HeldBatch] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def clear(self) -> None:
        """Remove every batch and stop processing."""
        for task in self._tasks:
            task.cancel()
        self._held.clear()

    def create(
        self, body: object, *, seconds: float, answered_of_expired: int | None = None
    ) -> HeldBatch:
        """Create a batch that is processed after `seconds`. Raises RequestRefused for an invalid request list."""
        batch = HeldBatch(
            id=f"msgbatch_{uuid.uuid4().hex[:24]}",
            requests=_read_requests(body),
            seconds=seconds,
            answered_of_expired=answered_of_expired,
        )
        self._held[batch.id] = batch
        task = asyncio.get_running_loop().create_task(self._work_off(batch))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return batch

    def find(self, name: str) -> HeldBatch:
        """Return a batch. Raises RequestRefused (404) if it does not exist."""
        batch = self._held.get(name)
        if batch is None:
            raise RequestRefused(404, "not_found_error", f"Message Batch not found: {name}")
        return batch

    def page(self, *, limit: int, after: str, before: str) -> tuple[Sequence[HeldBatch], bool]:
        """Return one page of batches, newest first, and whether more batches follow. Raises RequestRefused."""
        if not 1 <= limit <= _MOST_LISTED:
            raise refused(f"limit: must be from 1 to {_MOST_LISTED}")
        newest = list(reversed(self._held.values()))
        names = [batch.id for batch in newest]
        if after:
            newest = newest[names.index(self.find(after).id) + 1 :]
        elif before:
            newest = newest[: names.index(self.find(before).id)]
        return newest[:limit], len(newest) > limit

    def cancel(self, name: str) -> HeldBatch:
        """Cancel a batch, so that no more of its requests are answered. Raises RequestRefused."""
        batch = self.find(name)
        if batch.ended_at is not None:
            raise refused(f"Batch {name} cannot be canceled because it has finished processing.")
        batch.cancelled_at = batch.cancelled_at or datetime.now(UTC)
        return batch

    def results(self, name: str) -> HeldBatch:
        """Return a batch that has ended. Raises RequestRefused (404) if it has no results yet."""
        batch = self.find(name)
        if batch.ended_at is None:
            raise RequestRefused(404, "not_found_error", f"Batch {name} has no available results.")
        return batch

    async def _work_off(self, batch: HeldBatch) -> None:
        until = time.monotonic() + batch.seconds
        while batch.cancelled_at is None and time.monotonic() < until:
            await asyncio.sleep(min(0.05, batch.seconds))
        for number, (name, params) in enumerate(batch.requests.items()):
            if batch.cancelled_at is not None:
                batch.results[name] = {"type": "canceled"}
            elif batch.answered_of_expired is not None and number >= batch.answered_of_expired:
                batch.results[name] = {"type": "expired"}
            else:
                batch.results[name] = self._result(batch, name, params)
            await asyncio.sleep(0)
        batch.ended_at = datetime.now(UTC)

    def _result(self, batch: HeldBatch, name: str, params: object) -> dict[str, object]:
        try:
            return {"type": "succeeded", "message": self._answer(params, batch.id, name)}
        except RequestRefused as error:
            inner = {"type": error.kind, "message": str(error)}
            return {"type": "errored", "error": {"type": "error", "error": inner}}


def _read_requests(body: object) -> dict[str, object]:
    """Return the parameters by custom id. As in the API, parameters are validated only when the request is answered."""
    rows = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(rows, list) or not rows:
        raise refused("requests: a list of at least one request is required")
    if len(rows) > MOST_REQUESTS:
        raise refused(f"requests: at most {MOST_REQUESTS} requests are allowed")
    found: dict[str, object] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or set(row) != {"custom_id", "params"}:
            raise refused(f"requests.{number}: custom_id and params are required, and nothing else")
        name = row["custom_id"]
        if not isinstance(name, str) or not _CUSTOM_ID.fullmatch(name):
            raise refused(f"requests.{number}.custom_id: 1 to 64 letters, digits, _ and -")
        if name in found:
            raise refused(f"requests.{number}.custom_id: {json.dumps(name)} already exists")
        if not isinstance(row["params"], dict):
            raise refused(f"requests.{number}.params: an object is required")
        found[name] = row["params"]
    return found


def _say(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
