"""Measure the pipeline's overhead: wall time compared with the model latencies on the critical path."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.figures import Figure, figure, size
from bench.support.worker import memory_of, processor_seconds, worker
from pipeline.simulation.clean_run import clean_run

if TYPE_CHECKING:
    from pipeline.models import Run

LATENCY = 2.0  # seconds per call
STATEMENT = "delete files older than 30 days in /var/tmp/exports"
REPEATS = 3
IN_FLIGHT = 64
RUNS = size(full=192, quick=128)
FEW_PLACES = 16
_PATIENCE = 300.0  # seconds


def measure() -> list[Figure]:
    """Measure a single run, a worker with 64 concurrent runs, and many runs with few endpoint slots."""
    return [*measure_alone(), *measure_together(), *measure_few_places()]


def measure_alone() -> list[Figure]:
    """Measure the best of a few single runs with a demo model of known latency, and count calls and queries."""
    # Import Django modules here and below, because they need the settings that the stage sets.
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from pipeline.clients.model_client import model_client
    from pipeline.execution import run_worker
    from pipeline.models import Attempt

    model_client()  # loads the SDK first, because loading it is part of the worker's start
    ratios, calls, queries = [], 0, 0
    with _standin():
        for _ in range(REPEATS):
            run = _start(enqueue=False)
            began = time.monotonic()
            run = run_worker.run_to_end(run.pk)
            ratios.append((time.monotonic() - began) / (LATENCY * clean_run().calls_on_the_path))
            assert run.state == "done", run.problem
            calls = Attempt.objects.filter(call__run=run).count()
    with _standin(latency=0.0), CaptureQueriesContext(connection) as captured:
        run_worker.run_to_end(_start(enqueue=False).pk)
        queries = len(captured)
    return [
        figure(f"overhead of one run at {LATENCY:.0f} s a call", min(ratios), most=1.05),
        figure("calls of a run that passes", calls, exactly=clean_run().calls),
        figure("statements to the database of such a run", queries),
    ]


def measure_together() -> list[Figure]:
    """Measure a worker whose threads are all busy while more runs are waiting."""
    with (
        _standin() as environment,
        _places(2 * IN_FLIGHT),
        worker(environment, threads=IN_FLIGHT) as process,
    ):
        used = processor_seconds(process.pid)
        runs = [_start(enqueue=True).pk for _ in range(RUNS)]
        memory = _wait_for(runs, process.pid)
        used = processor_seconds(process.pid) - used
    walls, calls = _walls_and_calls(runs)
    path = LATENCY * clean_run().calls_on_the_path
    return [
        figure(
            f"overhead with {IN_FLIGHT} runs in flight, mean of {RUNS}",
            statistics.fmean(walls) / path,
            most=1.25,
        ),
        figure("the same, 95th percentile", statistics.quantiles(walls, n=20)[-1] / path),
        figure("calls a run", calls / RUNS, exactly=clean_run().calls),
        figure("memory of the worker then, MiB", memory),
        figure("its processor time a run, ms", 1000 * used / RUNS),
    ]


def measure_few_places() -> list[Figure]:
    """Measure how well an endpoint's few slots are used when far more runs need a slot."""
    with (
        _standin() as environment,
        _places(FEW_PLACES),
        worker(environment, threads=IN_FLIGHT) as process,
    ):
        began = time.monotonic()
        runs = [_start(enqueue=True).pk for _ in range(IN_FLIGHT)]
        _wait_for(runs, process.pid)
        wall = time.monotonic() - began
    _walls, calls = _walls_and_calls(runs)
    return [
        figure(
            f"{IN_FLIGHT} runs on {FEW_PLACES} places: wall time over the time they need",
            wall / (calls * LATENCY / FEW_PLACES),
        ),
        figure("calls a run", calls / len(runs), exactly=clean_run().calls),
    ]


@contextmanager
def _standin(latency: float = LATENCY) -> Iterator[dict[str, str]]:
    """Start the demo model with this latency, and yield an environment for other processes."""
    from django.conf import settings

    from tests.standin_process import StandIn

    with StandIn("--latency", str(latency)) as standin:
        settings.SCRIPTSMITH_DEMO_MODEL_URL = standin.url
        yield {**os.environ, "SCRIPTSMITH_DEMO_MODEL_URL": standin.url}


@contextmanager
def _places(most: int) -> Iterator[None]:
    from pipeline.models import Endpoint

    demo = Endpoint.objects.get(name="demo")
    Endpoint.objects.filter(pk=demo.pk).update(max_in_flight=most)
    yield
    Endpoint.objects.filter(pk=demo.pk).update(max_in_flight=demo.max_in_flight)


def _start(*, enqueue: bool) -> Run:
    from pipeline import services

    action = services.ask(STATEMENT, by=None)
    return services.start_run(action, by=None, uses_retrieval=False, enqueue=enqueue)


def _wait_for(runs: list[int], pid: int) -> float:
    """Wait until all runs have ended. Return the worker's peak memory in MiB."""
    from pipeline.models import Run

    deadline, most = time.monotonic() + _PATIENCE, 0.0
    while left := Run.objects.unfinished().filter(pk__in=runs).count():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{left} of {len(runs)} runs have not ended")
        most = max(most, memory_of(pid))
        time.sleep(0.25)
    assert not Run.objects.filter(pk__in=runs).exclude(state="done").exists()
    return most


def _walls_and_calls(runs: list[int]) -> tuple[list[float], int]:
    """Return the duration of each run in seconds, and the total number of attempts."""
    from pipeline.models import Attempt, Run

    times = Run.objects.filter(pk__in=runs).values_list("started_at", "finished_at")
    walls = [(finished - started).total_seconds() for started, finished in times]
    return walls, Attempt.objects.filter(call__run__in=runs).count()
