"""Counters. Each process writes its own to files in the data folder, and reading them adds them up.

Labels are names of endpoints, states and the like: never a request text, a script, a user, or anything that a blinded
study hides. Counting never raises. If the files can't be written, events are not counted.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import Counter, Histogram, values
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.values import MultiProcessValue

logger = logging.getLogger(__name__)

# Allocated when a process begins to count, because a write to a mapped page kills the process if the disk is full.
_BYTES = {"counter": 1024 * 1024, "histogram": 256 * 1024}
_FORGOTTEN_AFTER = 30 * 24 * 3600  # seconds
_HOST = socket.gethostname().replace("_", "-")


def _folder() -> Path:
    """Return the folder that the library writes to, from the settings; create it if it is missing."""
    folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _process(pid: int | None = None) -> str:
    """Return a name for this process that is unique among all machines that share the folder."""
    return f"{_HOST}-{pid or os.getpid()}"


values.ValueClass = MultiProcessValue(process_identifier=_process)  # type: ignore[no-untyped-call]

_SECONDS = (0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120)

RUNS = Counter(
    "scriptsmith_runs",
    "Finished runs, by origin and outcome.",
    ["origin", "outcome"],
    registry=None,
)
ATTEMPTS = Counter(
    "scriptsmith_attempts",
    "Attempts to call a model. For studies, only the calls that every run makes.",
    ["endpoint", "result"],
    registry=None,
)
MODEL_CALL_SECONDS = Histogram(
    "scriptsmith_model_call_seconds",
    "Duration of attempts to call a model. For studies, only the calls that every run makes.",
    ["endpoint"],
    buckets=_SECONDS,
    registry=None,
)
EXECUTIONS = Counter(
    "scriptsmith_executions",
    "Finished sandbox jobs, except those for drafts, whether or not the tests passed.",
    ["state"],
    registry=None,
)
HTTP_REQUESTS = Counter(
    "scriptsmith_http_requests",
    "Requests by view and status class. For the review page, only failed requests.",
    ["view", "status"],
    registry=None,
)
HTTP_SECONDS = Histogram(
    "scriptsmith_http_request_seconds",
    "Duration of requests, except those of the review page.",
    ["method"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=None,
)
AGENT_CALLS = Counter(
    "scriptsmith_agent_calls",
    "Tool calls by agents.",
    ["tool", "result"],
    registry=None,
)
DELIVERIES = Counter(
    "scriptsmith_deliveries",
    "Attempts to send an event to another system.",
    ["kind", "result"],
    registry=None,
)
_ALL: tuple[MetricWrapperBase, ...] = (
    RUNS,
    ATTEMPTS,
    MODEL_CALL_SECONDS,
    EXECUTIONS,
    HTTP_REQUESTS,
    HTTP_SECONDS,
    AGENT_CALLS,
    DELIVERIES,
)
_prepared: set[int] = set()
_warned: set[str] = set()


def count(counter: Counter, *labels: str) -> None:
    """Add one to the counter."""
    try:
        _prepare()
        counter.labels(*labels).inc()
    except (OSError, ValueError) as error:
        _warn(error)


def observe(histogram: Histogram, seconds: float, *labels: str) -> None:
    """Record a duration."""
    try:
        _prepare()
        histogram.labels(*labels).observe(seconds)
    except (OSError, ValueError) as error:
        _warn(error)


def collect() -> Iterator[Metric]:
    """Yield the sums over all processes. An unused counter has a name and no values."""
    counted = MultiProcessCollector(None, path=str(_folder())).collect()  # type: ignore[no-untyped-call]
    found = {metric.name: metric for metric in counted}
    for known in _ALL:
        (declared,) = known.describe()
        yield found.pop(declared.name, declared)
    yield from found.values()


def empty_folder() -> None:
    """Delete the counts of processes that have ended; call it when no process of this machine runs.

    Other machines' files are deleted only if they are so old that no process can still write to them, because a new
    container has a new name.
    """
    folder, long_ago = _folder(), time.time() - _FORGOTTEN_AFTER
    own = set(folder.glob(f"*_{_HOST}-*.db"))
    for file in folder.glob("*.db"):
        if file in own or file.stat().st_mtime < long_ago:
            file.unlink(missing_ok=True)


def forget_process(pid: int) -> None:
    """Keep the counts of a process that has ended, and delete its gauges."""
    mark_process_dead(_process(pid), path=str(_folder()))  # type: ignore[no-untyped-call]


def _prepare() -> None:
    pid = os.getpid()
    if pid in _prepared:
        return
    folder = _folder()
    for kind, size in _BYTES.items():
        with (folder / f"{kind}_{_process(pid)}.db").open("ab") as file:
            if file.tell() == 0:
                os.posix_fallocate(file.fileno(), 0, size)
    _prepared.clear()
    _prepared.add(pid)


def _warn(error: Exception) -> None:
    """Log each reason once, because counting is frequent."""
    said = str(error)[:200]
    if said not in _warned and len(_warned) < 20:
        _warned.add(said)
        logger.warning("Metrics are not recorded: %s", said)
