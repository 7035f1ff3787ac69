"""Run two workers, first without failures, then with kill -9 of each worker, Redis and PostgreSQL.

The broker is also emptied, and some replies take longer than every limit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence

from bench.figures import Figure, figure, size
from bench.support.worker import WorkerProcess, worker
from pipeline.simulation.clean_run import clean_run
from tests.flow.storm import WORK_GOES_ON_WITHIN, Account, Storm, storm, wait_until

RUNS = size(full=500, quick=260)  # enough to keep two workers busy until the last failure
PLACES = 16
LATENCY = 1.0  # seconds per call
LIMIT = 5  # reply timeout of the endpoint in seconds
LEASE = 20.0  # seconds, as in production
# The product's supervisor restarts the first worker. This module restarts the second worker.
BLOWS = (
    "kill_worker",
    "kill_second_worker",
    "kill_redis",
    "kill_second_worker",
    "kill_postgres",
    "kill_worker",
    "empty_broker",
    "stop_worker",
)
BETWEEN = 5.0  # seconds of work between two failures
# Replies that exceed the timeout, at different stages.
LATE = [
    {"kind": "delay", "task": task, "seconds": 4.0 * LIMIT, "skip": skip}
    for task, skip in (("generate", 10), ("describe", 30), ("similarity", 50), ("difference", 70))
]
_PATIENCE = 600.0  # seconds


def measure() -> list[Figure]:
    """Run the crowd benchmark, then inject each failure during calls, and compare both ledgers."""
    crowd = _measure_crowd()
    _start_runs()
    with (
        storm(os.environ["DATABASE_URL"], latency=LATENCY, lease=LEASE, faults=LATE) as product,
        # If a worker is killed, the other worker continues and may take over its runs.
        worker(product.environment, threads=PLACES) as second,
    ):
        pauses = [(blow, _strike(product, second, blow)) for blow in BLOWS]
        wait_until(lambda: product.unfinished() == 0, seconds=_PATIENCE, what="the end of all runs")
        account = product.account()
    return [*crowd, *_pauses(pauses), *_books(account)]


def _measure_crowd() -> list[Figure]:
    # Use a separate process, because the crowd benchmark needs its own database.
    done = subprocess.run(
        [sys.executable, "-m", "bench.runs.crowd"], stdout=subprocess.PIPE, check=True, text=True
    )
    figures: list[Figure] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _start_runs() -> None:
    # Import these modules here, because they need the settings that the stage sets.
    from pipeline import services
    from pipeline.models import Batch, Endpoint

    Endpoint.objects.filter(name="demo").update(max_in_flight=PLACES, timeout_seconds=LIMIT)
    batch = Batch.objects.create(name="Storm")
    for number in range(RUNS):
        action = services.ask(f"Count the files in /var/tmp/storm/{number}", by=None)
        services.start_run(
            action,
            by=None,
            uses_retrieval=False,
            batch=batch if number % 2 else None,
            enqueue=False,
        )


def _strike(product: Storm, second: WorkerProcess, blow: str) -> float | None:
    """Inject a failure. Return the seconds until a later call was answered, or None if no work was left."""
    wait_until(
        lambda: product.in_flight() > 0 or product.unfinished() == 0,
        seconds=_PATIENCE,
        what="a call in flight",
    )
    moment = time.time()
    if blow == "kill_second_worker":
        second.kill()
        second.start()
    else:
        getattr(product, blow)()
    wait_until(
        lambda: product.went_on_after(moment) is not None or product.unfinished() == 0,
        seconds=_PATIENCE,
        what=f"work after {blow}",
    )
    time.sleep(BETWEEN)
    return product.went_on_after(moment)


def _pauses(pauses: Sequence[tuple[str, float | None]]) -> list[Figure]:
    return [
        figure(
            f"blow {number}, seconds until an answer to a call begun after {blow}",
            seconds,
            most=WORK_GOES_ON_WITHIN,
        )
        for number, (blow, seconds) in enumerate(pauses, 1)
    ]


def _books(account: Account) -> list[Figure]:
    unsent = account.possibly_billed - account.extra
    return [
        figure("runs that ended", sum(account.states.values()), exactly=RUNS),
        figure("runs that are done", account.states.get("done", 0), exactly=RUNS),
        figure("calls with an answer", account.answered, exactly=clean_run().calls * RUNS),
        figure("calls answered twice in the ledger", account.answered_twice, exactly=0),
        figure("calls that the model billed", account.billed),
        figure("billed beyond the answers used", account.extra, most=account.possibly_billed),
        figure("attempts recorded as possibly billed", account.possibly_billed),
        figure("attempts of a lost worker", account.orphaned),
        figure("recorded, but not yet sent when their worker was killed", unsent, least=0),
    ]
