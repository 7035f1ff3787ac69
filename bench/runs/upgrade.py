"""Test a rolling upgrade, with this tree's web server and a worker of the previous release on one database.

SCRIPTSMITH_BEFORE names a checkout of the previous release with a `.venv`. That release creates the database, and this
tree migrates it. This tree's worker is suspended, so that the old worker does all the work. While 100 requested runs
are processed, four users submit 500 scores.

Usage: SCRIPTSMITH_BEFORE=/path/to/the/previous/release python -m bench upgrade
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import CannotMeasure, Figure, figure
from bench.review.client import Person
from bench.support.product import running
from bench.support.worker import worker

if TYPE_CHECKING:
    from review.models import Campaign

RUNS, SCORES, PEOPLE = 100, 500, 4
_PATIENCE = 300.0  # seconds


def measure() -> list[Figure]:
    """Request runs, submit scores, and check the results. Raises CannotMeasure if the previous release is missing."""
    from tests.standin_process import StandIn

    before = Path(os.environ.get("SCRIPTSMITH_BEFORE") or "none")
    if not (before / ".venv/bin/python").exists():
        raise CannotMeasure(
            "SCRIPTSMITH_BEFORE names no checkout of the release before with its .venv."
        )
    with (
        StandIn("--latency", "0.2") as standin,
        running(migrated_by=before, SCRIPTSMITH_DEMO_MODEL_URL=standin.url) as product,
    ):
        from bench.review.rows import PASSWORD, make_people, make_study

        for pid in product.workers():
            os.kill(pid, signal.SIGSTOP)
        try:
            with worker(dict(os.environ), threads=16, tree=before):
                users = make_people(PEOPLE)
                # Create one more item for each user, so that the items do not run out before the last score.
                cases = SCORES + PEOPLE
                study = make_study("Study across an upgrade", people=users, cases=cases)
                people = [Person(product.url, user.username, PASSWORD) for user in users]
                runs = _ask()
                given = asyncio.run(_score(people, study.pk))
                ended = _wait_for(runs)
                return _account(runs, study, given=given, ended=ended)
        finally:
            for pid in product.workers():
                os.kill(pid, signal.SIGCONT)


def _ask() -> list[int]:
    from pipeline import services

    return [
        services.start_run(
            services.ask(f"Count the files in /var/tmp/upgrade/{number}", by=None),
            by=None,
            uses_retrieval=False,
        ).pk
        for number in range(RUNS)
    ]


async def _score(people: list[Person], study: int) -> int:
    """Let all users work until at least `SCORES` scores are accepted. Return the number of accepted scores."""
    given = 0

    async def work(person: Person) -> None:
        nonlocal given
        await person.sign_in()
        await person.begin(study)
        while given < SCORES and person.shown is not None:
            given += 1
            answer = await person.score(2)
            if answer.status != 200:
                raise RuntimeError(f"a score was answered with {answer.status}: {answer.body!r}")
        await person.leave()

    await asyncio.gather(*(work(person) for person in people))
    return given


def _wait_for(runs: list[int]) -> int:
    from pipeline.models import Run

    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        ended = Run.objects.filter(pk__in=runs, state__in=("done", "failed", "cancelled")).count()
        if ended == len(runs):
            break
        time.sleep(0.5)
    return ended


def _account(runs: list[int], study: Campaign, *, given: int, ended: int) -> list[Figure]:
    from pipeline.models import Attempt, Run, Worker
    from review.models import Score

    scores = Score.objects.filter(item__campaign=study, current=True)
    attempts = Attempt.objects.filter(call__run__in=runs)
    once = scores.values("item", "reviewer").distinct().count()
    return [
        figure("runs requested through the new web", len(runs), exactly=RUNS),
        figure("runs ended by the old worker", ended, exactly=RUNS),
        figure(
            "runs that are done",
            Run.objects.filter(pk__in=runs, state="done").count(),
            exactly=RUNS,
        ),
        figure(
            "repeated calls",
            attempts.count() - attempts.values("call").distinct().count(),
            exactly=0,
        ),
        figure("accepted scores", given, least=SCORES),
        figure("stored scores", scores.count(), exactly=given),
        figure("accepted scores without a row", given - once, exactly=0),
        figure("workers that are alive", Worker.objects.count()),
    ]
