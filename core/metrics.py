"""Prometheus metrics. Each process writes its own files in the data folder, and `collect` adds them up.

Labels are names, such as endpoint names and states. Labels never contain request text, scripts, users or data that a
blinded study hides. Recording never raises an exception. If the files can't be written, events are not recorded.
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

# The file sizes to allocate before the first write. If the disk is full, a write to an unallocated page of a mapped
# file would kill the process.
_BYTES = {"counter": 1024 * 1024, "histogram": 256 * 1024}
_FORGOTTEN_AFTER = 30 * 24 * 3600  # seconds
_HOST = socket.gethostname().replace("_", "-")


def _folder() -> Path:
    """Return the folder to which the Prometheus library writes. Create the folder if needed."""
    folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _process(pid: int | None = None) -> str:
    """Return a process name that is unique among all machines that share the folder."""
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
    """Increment the counter."""
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
    """Yield the metrics, summed over all processes. An unused metric has no values."""
    counted = MultiProcessCollector(None, path=str(_folder())).collect()  # type: ignore[no-untyped-call]
    found = {metric.name: metric for metric in counted}
    for known in _ALL:
        (declared,) = known.describe()
        yield found.pop(declared.name, declared)
    yield from found.values()


def empty_folder() -> None:
    """Delete this machine's files. Call this function only when none of its processes are running.

    Also delete very old files of other machines, to which no process can still write. Such files accumulate because
    each new container has a new host name.
    """
    folder, long_ago = _folder(), time.time() - _FORGOTTEN_AFTER
    own = set(folder.glob(f"*_{_HOST}-*.db"))
    for file in folder.glob("*.db"):
        if file in own or file.stat().st_mtime < long_ago:
            file.unlink(missing_ok=True)


def forget_process(pid: int) -> None:
    """Delete the gauges of a process that has exited. Its counts are preserved."""
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
    """Log each error message once, because the functions are called frequently."""
    said = str(error)[:200]
    if said not in _warned and len(_warned) < 20:
        _warned.add(said)
        logger.warning("Metrics are not recorded: %s", said)
