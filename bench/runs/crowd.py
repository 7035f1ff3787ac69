"""Run two workers with more runs than threads and no kills. No run may be taken over, and no call may be repeated.

This module prints its figures as JSON. `python -m bench chaos` runs this module in a process with its own database.

Usage: python -m bench.runs.crowd
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import Figure, figure, size
from bench.support.product import running
from bench.support.worker import worker
from pipeline.simulation.clean_run import clean_run

if TYPE_CHECKING:
    from pipeline.models import Run

RUNS = size(full=700, quick=210)
AT_ONCE = 140
LATENCY = 1.5  # seconds per call
THREADS = 72  # threads of the second worker, the same number as in the product's worker
_PATIENCE = 900.0  # seconds


def measure() -> list[Figure]:
    """Run the product's worker and a second worker on one database, with up to AT_ONCE unfinished runs."""
    from tests.standin_process import StandIn

    with tempfile.TemporaryDirectory(prefix="scriptsmith-crowd-") as folder:
        notes = Path(folder) / "notes.jsonl"
        os.environ["BENCH_WATCH_FILE"] = str(notes)
        with (
            StandIn("--latency", str(LATENCY)) as standin,
            running(
                DJANGO_SETTINGS_MODULE="bench.support.watched",
                SCRIPTSMITH_DEMO_MODEL_URL=standin.url,
            ),
            worker(dict(os.environ), threads=THREADS),
        ):
            began = time.monotonic()
            runs = _carry_crowd()
            wall = time.monotonic() - began
            billed = standin.totals()["billed"]
            books = _books(runs, billed)
        times = _read(notes)
    return [
        *books,
        figure("seconds for all of them", wall),
        *_waits(times),
        figure("load of the machine, mean of the last minute", os.getloadavg()[0]),
    ]


def _carry_crowd() -> list[int]:
    """Request runs, replace finished runs with new requests, and wait until all runs have ended."""
    from pipeline.models import Run

    deadline = time.monotonic() + _PATIENCE
    runs: list[int] = []
    while True:
        unfinished = Run.objects.unfinished().count()
        if len(runs) == RUNS and not unfinished:
            return runs
        if time.monotonic() > deadline:
            raise TimeoutError(f"{unfinished} runs have not ended")
        for _ in range(min(AT_ONCE - unfinished, RUNS - len(runs))):
            runs.append(_start(len(runs)).pk)
        time.sleep(0.2)


def _start(number: int) -> Run:
    from pipeline import services

    action = services.ask(f"Count the files in /var/tmp/crowd/{number}", by=None)
    return services.start_run(action, by=None, uses_retrieval=False)


def _books(runs: list[int], billed: int) -> list[Figure]:
    from django.db.models import F, Sum

    from pipeline.models import Attempt, Run

    of_these = Run.objects.filter(pk__in=runs)
    attempts = Attempt.objects.filter(call__run__in=runs)
    figures = [
        ("runs with two workers and no kills", len(runs), RUNS),
        ("of them done", of_these.filter(state=Run.State.DONE).count(), len(runs)),
        (
            "runs taken over",
            attempts.filter(outcome="orphaned").values("call__run").distinct().count(),
            0,
        ),
        ("deaths of a worker counted", of_these.aggregate(n=Sum(F("crashes")))["n"], 0),
        ("calls made again", attempts.count() - attempts.values("call").distinct().count(), 0),
        ("calls that the model billed", billed, clean_run().calls * len(runs)),
    ]
    return [figure(what, value, exactly=bound) for what, value, bound in figures]


def _read(notes: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"heartbeat": [], "admission": [], "wait": []}
    for line in notes.read_text().splitlines():
        note = json.loads(line)
        found[note["kind"]].append(note["took"])
    return found


def _waits(times: dict[str, list[float]]) -> list[Figure]:
    beats, waits, admissions = times["heartbeat"], times["wait"], times["admission"]
    return [
        figure("longest heartbeat, seconds", max(beats), most=1, note=f"of {len(beats)}"),
        figure(
            "finding and taking a place, in the database, median, ms",
            1000 * statistics.median(waits),
            note=f"of {len(waits)}",
        ),
        figure(
            "the same, 99th percentile", 1000 * statistics.quantiles(waits, n=100)[-1], most=100
        ),
        figure("the same, longest", 1000 * max(waits)),
        figure(
            "the same with the way there and back, median, ms", 1000 * statistics.median(admissions)
        ),
        figure("the same, 99th percentile", 1000 * statistics.quantiles(admissions, n=100)[-1]),
    ]


if __name__ == "__main__":
    json.dump(measure(), sys.stdout)
