"""Let a worker call misbehaving servers, each together with a healthy server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import Figure, figure, size
from bench.support.worker import worker
from tests.hostile import KINDS
from tests.site_process import ROOT

if TYPE_CHECKING:
    from pipeline.models import Run

THREADS = 72
HEALTHY = 12
HELD_MIB = 150
HELD_STOP = 15.0
SECONDS = 5  # reply timeout of an endpoint
MOST = {"drip": size(full=110, quick=80)}  # runs per kind (FEW for other kinds)
FEW = 8
_PATIENCE = 240.0  # seconds


def measure() -> list[Figure]:
    """Test each kind of server with the same worker, the dripping server last, then stop the worker."""
    from tests.standin_process import StandIn

    kinds = [kind for kind in (*KINDS, "tls") if kind != "drip"] + ["drip"]
    figures: list[Figure] = []
    with _hostile() as (port, tls_url), StandIn("--latency", "0.2") as standin:
        environment = {**os.environ, "SCRIPTSMITH_DEMO_MODEL_URL": standin.url}
        for kind in kinds:
            _make_endpoint(kind, tls_url if kind == "tls" else f"http://127.0.0.1:{port}/{kind}")
        with worker(environment, threads=THREADS) as process:
            _finish(_start([("", HEALTHY)]))  # so that loading modules does not count as growth
            start = _memory(process.pid, "VmRSS")
            for kind in kinds:
                figures += _meet(kind, process.pid, start, port)
            told = time.monotonic()
    stopped = time.monotonic() - told
    return [
        *figures,
        figure(
            "seconds from SIGTERM to the worker's end, after the dripping server",
            stopped,
            most=HELD_STOP,
        ),
    ]


def _meet(kind: str, pid: int, start: float, port: int) -> list[Figure]:
    from pipeline.ledger.failures import failure_of
    from pipeline.models import Attempt, Run

    Path(f"/proc/{pid}/clear_refs").write_text("5")  # resets the peak memory
    counted = "handshake" if kind == "tls" else kind
    before = _requests(port)[counted]
    began = time.monotonic()
    runs = _start([(kind, MOST.get(kind, FEW)), ("", HEALTHY)])
    _finish(runs)
    seconds = time.monotonic() - began
    healthy = [run.pk for run in runs if run.demo]
    bad = Run.objects.exclude(pk__in=healthy).filter(pk__in=[run.pk for run in runs])
    states = Counter(bad.values_list("state", flat=True))
    tries = Attempt.objects.filter(call__run__in=bad)
    requests = _requests(port)[counted] - before
    failure = failure_of(bad[0])
    words = " ".join([failure.happened, failure.done, failure.advice]) if failure else ""
    done = Run.objects.filter(pk__in=healthy, state="done").count()
    said = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return [
        figure(
            f"{kind}: tries recorded less requests received",
            tries.count() - requests,
            exactly=0,
            note=f"{tries.count()} tries; runs {said}; {seconds:.0f} s; {words}",
        ),
        figure(
            f"{kind}: peak of the worker above its start, MiB",
            _memory(pid, "VmHWM") - start,
            most=HELD_MIB,
        ),
        figure(
            f"{kind}: of {HEALTHY} concurrent runs on a healthy endpoint, done",
            done,
            exactly=HEALTHY,
        ),
    ]


def _make_endpoint(kind: str, url: str) -> None:
    from pipeline.models import Configuration, Endpoint, RoleSetting
    from pipeline.types import Role

    endpoint = Endpoint.objects.create(
        name=kind,
        title=kind,
        base_url=url,
        enabled=True,
        max_in_flight=MOST.get(kind, FEW),
        timeout_seconds=SECONDS,
    )
    configuration = Configuration.objects.create(name=kind, title=kind, uses_retrieval=False)
    for role in Role:
        RoleSetting.objects.create(
            configuration=configuration, role=role.value, endpoint=endpoint, model="any"
        )


def _start(wanted: Sequence[tuple[str, int]]) -> list[Run]:
    """Start the given number of runs for each configuration. The name "" means the default with the demo model."""
    from pipeline import services
    from pipeline.models import Configuration

    runs = []
    for name, count in wanted:
        configuration = Configuration.objects.get(name=name) if name else None
        for number in range(count):
            action = services.ask(f"Count the files in /var/tmp/exports/{number}", by=None)
            runs.append(
                services.start_run(
                    action, by=None, configuration=configuration, uses_retrieval=False
                )
            )
    return runs


def _finish(runs: Sequence[Run]) -> None:
    from pipeline.models import Run

    deadline = time.monotonic() + _PATIENCE
    while left := Run.objects.unfinished().filter(pk__in=[run.pk for run in runs]).count():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{left} of {len(runs)} runs have not ended")
        time.sleep(0.25)


def _memory(pid: int, what: str) -> float:
    """Return a value in MiB from the process's status file."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(what)


def _requests(port: int) -> Counter[str]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_counts", timeout=10) as answer:
        return Counter(json.load(answer))


@contextmanager
def _hostile() -> Iterator[tuple[int, str]]:
    """Run the server in a separate process, because it holds its responses in memory."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.hostile"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        found = json.loads(process.stdout.readline())
        yield found["port"], found["tls_url"]
    finally:
        process.communicate()
