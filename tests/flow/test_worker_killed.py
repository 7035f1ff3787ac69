"""A worker that ends in the middle of a run: the run finishes by itself, and no finished call is made again."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from collections import Counter

import psycopg
import pytest

from pipeline.simulation.clean_run import clean_run
from tests.site_process import Site

# Above the end of the demo's book: the rules answer, in the same number of stages.
STATEMENT = "count the files in /var/tmp/exports/archive"
WORK_GOES_ON_WITHIN = 60.0


def ask(site: Site) -> int:
    """A run asked for as the page would, through the service, so that the worker is told."""
    said = site.run(
        "from pipeline import services; from django.contrib.auth.models import User; "
        f"run = services.ask_and_run({STATEMENT!r}, by=User.objects.get(username='rita')); print('run', run.pk)",
    )
    return int(said.split("run ")[-1])


def state(site: Site, run: int) -> str:
    with psycopg.connect(site.environment["DATABASE_URL"]) as database:
        row = database.execute("SELECT state FROM pipeline_run WHERE id = %s", [run]).fetchone()
    assert row is not None
    return str(row[0])


def report_of(site: Site, run: int) -> dict[str, object]:
    said = site.run(
        "import json; from pipeline.models import Run; from pipeline.runs.run_document import report_run; "
        f"run = Run.objects.get(pk={run}); "
        "print(json.dumps({**report_run(run), 'orphans': run.calls.filter(attempts__outcome='orphaned').count()}))",
    )
    return json.loads(said.strip().splitlines()[-1])  # type: ignore[no-any-return]


def standin(site: Site, path: str, body: object = None) -> dict[str, object]:
    request = urllib.request.Request(
        site.environment["SCRIPTSMITH_DEMO_MODEL_URL"] + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)  # type: ignore[no-any-return]


def calls(site: Site) -> list[dict[str, object]]:
    found = standin(site, "/_standin/calls")["calls"]
    assert isinstance(found, list)
    return [call for call in found if call["billed"]]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_run_finishes_and_only_calls_in_flight_are_made_again(site: Site) -> None:
    standin(site, "/_standin/reset", [])
    standin(
        site,
        "/_standin/faults",
        [{"kind": "delay", "seconds": 8, "task": "describe", "count": None}],
    )
    try:
        run = ask(site)
        deadline = time.monotonic() + 90  # the worker may still be starting
        while sum(call["task"] == "describe" for call in calls(site)) < 1:
            assert time.monotonic() < deadline, "the worker never began"
            time.sleep(0.05)
        killed = time.monotonic()
        os.kill(site.child("worker -B"), signal.SIGKILL)
        standin(site, "/_standin/reset", [])  # the rest at full speed
        before = 1  # generate had been answered, describe was in flight
        while state(site, run) in ("queued", "running"):
            assert time.monotonic() - killed < WORK_GOES_ON_WITHIN, report_of(site, run)
            time.sleep(0.2)
    finally:
        standin(site, "/_standin/reset", [])
    report = report_of(site, run)
    assert report["state"] == "done", report
    assert report["orphans"] == before
    needed = clean_run().calls + 1
    assert report["calls"] == needed, "one question was asked twice, and both tries are rows"
    answered = Counter(stage["name"] for stage in report["stages"])  # type: ignore[attr-defined]
    assert max(answered.values()) == 1


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_worker_told_to_end_loses_no_call(site: Site) -> None:
    standin(site, "/_standin/reset", [])
    standin(site, "/_standin/faults", [{"kind": "delay", "seconds": 5, "task": "describe"}])
    run = ask(site)
    deadline = time.monotonic() + 90
    while sum(call["task"] == "describe" for call in calls(site)) < 1:
        assert time.monotonic() < deadline, "the worker never began"
        time.sleep(0.05)
    told = time.monotonic()
    os.kill(site.child("worker -B"), signal.SIGTERM)
    while state(site, run) in ("queued", "running"):
        assert time.monotonic() - told < WORK_GOES_ON_WITHIN, report_of(site, run)
        time.sleep(0.2)
    report = report_of(site, run)
    assert (report["state"], report["orphans"]) == ("done", 0), report
    assert report["calls"] == clean_run().calls == len(calls(site)), "nothing was billed twice"
