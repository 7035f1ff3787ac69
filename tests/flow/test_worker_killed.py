"""Tests that a run finishes after its worker is stopped, and that no finished call is repeated."""

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

# The demo has no prepared answer for this request, so its rules answer in the same number of stages.
STATEMENT = "count the files in /var/tmp/exports/archive"
WORK_GOES_ON_WITHIN = 60.0


def ask(site: Site) -> int:
    """Request a run through the service, as the page does, so that the worker is notified."""
    said = site.run(
        "from pipeline import services; from django.contrib.auth.models import User; "
        f"run = services.ask_and_run({STATEMENT!r}, by=User.objects.get(username='rita')); print('run', run.pk)"
    )
    return int(said.split("run ")[-1])


def state(site: Site, run: int) -> str:
    with psycopg.connect(site.environment["DATABASE_URL"]) as database:
        row = database.execute("SELECT state FROM pipeline_run WHERE id = %s", [run]).fetchone()
    return str(row[0])


def report_of(site: Site, run: int) -> dict[str, object]:
    said = site.run(
        "import json; from pipeline.models import Run; from pipeline.runs.run_document import report_run; "
        f"run = Run.objects.get(pk={run}); "
        "print(json.dumps({**report_run(run), 'orphans': run.calls.filter(attempts__outcome='orphaned').count()}))"
    )
    return json.loads(said.strip().splitlines()[-1])


def standin(site: Site, path: str, body: object = None) -> dict[str, object]:
    request = urllib.request.Request(
        site.environment["SCRIPTSMITH_DEMO_MODEL_URL"] + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def calls(site: Site) -> list[dict[str, object]]:
    found = standin(site, "/_standin/calls")["calls"]
    assert isinstance(found, list)
    return [call for call in found if call["billed"]]


def begin_run(site: Site, *, describe_seconds: int) -> int:
    """Request a run whose describe call takes this many seconds, and wait until that call is in flight."""
    standin(site, "/_standin/reset", [])
    late = {"kind": "delay", "seconds": describe_seconds, "task": "describe", "count": None}
    standin(site, "/_standin/faults", [late])
    run = ask(site)
    deadline = time.monotonic() + 90  # the worker may still be starting
    while not any(call["task"] == "describe" for call in calls(site)):
        assert time.monotonic() < deadline, "the worker never began"
        time.sleep(0.05)
    return run


def wait_for_end(site: Site, run: int) -> dict[str, object]:
    """Wait until the run ends and return its report."""
    deadline = time.monotonic() + WORK_GOES_ON_WITHIN
    while state(site, run) in ("queued", "running"):
        assert time.monotonic() < deadline, report_of(site, run)
        time.sleep(0.2)
    return report_of(site, run)


@pytest.mark.timeout(240)
def test_run_of_a_killed_worker_finishes_and_repeats_only_the_call_in_flight(site: Site) -> None:
    """Only a killed worker can show that leases, broker and ledger recover together."""
    try:
        run = begin_run(site, describe_seconds=8)
        os.kill(site.child("scriptsmith worker"), signal.SIGKILL)
        standin(site, "/_standin/reset", [])  # no delay for the other calls
        report = wait_for_end(site, run)
    finally:
        standin(site, "/_standin/reset", [])
    assert report["state"] == "done", report
    assert report["orphans"] == 1, "generate had been answered, describe was in flight"
    needed = clean_run().calls + 1
    assert report["calls"] == needed, "one question was asked twice, and both tries are rows"
    answered = Counter(stage["name"] for stage in report["stages"])
    assert max(answered.values()) == 1


@pytest.mark.nightly
@pytest.mark.timeout(240)
def test_worker_that_is_told_to_end_loses_no_call(site: Site) -> None:
    """Show that a real signal drains a real worker. Faster tests cover the details of draining."""
    run = begin_run(site, describe_seconds=5)
    os.kill(site.child("scriptsmith worker"), signal.SIGTERM)
    report = wait_for_end(site, run)
    assert (report["state"], report["orphans"]) == ("done", 0), report
    assert report["calls"] == clean_run().calls == len(calls(site)), "nothing was billed twice"
