"""Tests that no run and no billed call is lost when parts of the product fail and replies are late."""

from __future__ import annotations

import os
import time
from urllib.parse import urlsplit

import pytest
from django.db import connection

from pipeline import services
from pipeline.models import Batch, Endpoint, Run
from pipeline.simulation.clean_run import clean_run
from tests.flow.storm import WORK_GOES_ON_WITHIN, Storm, storm, wait_until
from tests.make import make_action

RUNS = 8


@pytest.fixture
def database_url(transactional_db: None) -> str:
    """Return a database with queued runs. Half of them are in a batch, and the endpoint allows three concurrent
    calls."""
    Endpoint.objects.filter(name="demo").update(max_in_flight=3, timeout_seconds=6)
    batch = Batch.objects.create(name="Storm")
    for number in range(RUNS):
        services.start_run(
            make_action(f"Count the files in /var/tmp/storm/{number}"),
            by=None,
            uses_retrieval=False,
            batch=batch if number % 2 else None,
            enqueue=False,
        )
    url = urlsplit(os.environ["DATABASE_URL"])
    return url._replace(path=f"/{connection.settings_dict['NAME']}").geturl()


def strike(product: Storm, blow: str) -> None:
    """Call this method of the product once calls are in flight, then wait until work continues."""
    wait_until(lambda: product.in_flight() > 0, seconds=60, what="a call in flight")
    moment = time.time()
    getattr(product, blow)()
    wait_until(
        lambda: product.went_on_after(moment) is not None or product.unfinished() == 0,
        seconds=WORK_GOES_ON_WITHIN,
        what=f"work after {blow}",
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(300)
def test_all_runs_end_and_billed_calls_are_counted_after_kills(database_url: str) -> None:
    """Show that worker, broker and database recover from each other's failure, which needs the whole product."""
    late = {"kind": "delay", "task": "describe", "seconds": 30}  # exceeds the endpoint's timeout
    with storm(database_url, latency=0.4, lease=2, faults=[late]) as product:
        for blow in ("kill_worker", "empty_broker", "kill_redis", "kill_postgres"):
            strike(product, blow)
        wait_until(lambda: product.unfinished() == 0, seconds=120, what="the end of all runs")
        account = product.account()
    assert account.states == {Run.State.DONE: RUNS}
    assert (account.answered, account.answered_twice) == (clean_run().calls * RUNS, 0)
    # An attempt that was recorded but not sent before the worker was killed may not have been billed.
    assert account.extra <= account.possibly_billed
