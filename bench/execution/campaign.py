"""Measure how much running a campaign's sandbox tests slows down reviewers of another campaign.

The product runs as `make run` starts it. Each user thinks for about five seconds before each score over HTTP. The
sandbox is idle at first. The users then continue until all tests have run or the time is up.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from statistics import quantiles
from typing import TYPE_CHECKING

from bench.figures import CannotMeasure, Figure, figure, size, slowness
from bench.review.client import Person
from bench.support.product import running

if TYPE_CHECKING:
    from review.models import Campaign

ITEMS, CASES = size(full=200, quick=30), 5
PEOPLE, THINK = 32, 5.0  # seconds
CALM, LONGEST = float(size(full=40, quick=15)), 600.0  # seconds
HELD = 0.3
_REVIEWED = 5_000  # more items than all users can score in the available time
_FILES = 10


def measure() -> list[Figure]:
    """Measure the duration of scoring with an idle and a busy sandbox, and the sandbox's progress."""
    with running() as product:
        # Import these modules here, because they need the settings that `running` sets.
        from bench.review.rows import PASSWORD, make_people, make_study
        from catalog.evidence.services import is_served
        from catalog.models import CaseRun
        from review.evidence.executing import execute_campaign

        users = make_people(PEOPLE)
        reviewed = make_study("Reviewed", people=users, cases=1_000, copies=_REVIEWED // 1_000)
        executed = make_study("Executed", people=users, cases=ITEMS)
        _write_cases(executed)
        deadline = time.monotonic() + 60
        while not is_served():
            if time.monotonic() > deadline:
                raise CannotMeasure("no worker of the sandbox has reported")
            time.sleep(0.5)
        people = [Person(product.url, user.username, PASSWORD) for user in users]
        asyncio.run(_sign_in(people))
        end = time.monotonic() + CALM
        calm = asyncio.run(_work(people, reviewed.pk, lambda: time.monotonic() < end))
        began, before = time.monotonic(), product.web_seconds()
        asked = sum(1 for _ in execute_campaign(executed, by_worker=True, again=False))
        unfinished = CaseRun.objects.filter(state__in=["waiting", "running"]).exclude(
            purpose=CaseRun.Purpose.QUALITY
        )

        def goes_on() -> bool:
            return time.monotonic() - began < LONGEST and unfinished.exists()

        busy = asyncio.run(_work(people, reviewed.pk, goes_on))
        seconds = time.monotonic() - began
        web = product.web_seconds() - before
        return [
            figure("seconds of a score, p95, sandbox idle", _p95(calm), note=_load()),
            figure("seconds of a score, median, sandbox at work", quantiles(busy, n=2)[0]),
            figure(
                "seconds of a score, p95, sandbox at work",
                _p95(busy),
                most=HELD * slowness(),
                note=f"{len(busy):,} scores; {_load()}",
            ),
            figure("of them over a second", sum(one > 1 for one in busy)),
            figure("web processes, seconds of processor a second", web / seconds),
            *_done(asked, unfinished.count(), seconds),
        ]


def _done(asked: int, left: int, seconds: float) -> list[Figure]:
    from catalog.models import CheckResult, Execution

    states = Counter(CheckResult.objects.values_list("state", flat=True))
    unsure = states["timed out"] + states["not run"]
    done = asked - left
    return [
        figure(f"scripts of {asked:,} executed, in {CASES} cases each", done, exactly=asked),
        figure("seconds that took", seconds),
        figure("results stored", Execution.objects.count()),
        figure(
            "of them with the quality of their cases by then",
            Execution.objects.exclude(quality_at=None).count(),
        ),
        figure("checks that ended at a limit or were not run", unsure),
    ]


def _write_cases(campaign: Campaign) -> None:
    import json

    from catalog.execution.cases import read_case_set
    from catalog.services import keep_case_set

    for case in campaign.cases.select_related("action"):
        statement = case.action.statement
        cases = [
            {
                "title": f"world {number}",
                "about": statement[:200],
                "kind": "usual",
                "world": {
                    "files": [
                        {"path": f"/srv/{number}/{one}.log", "content": "x\n", "age": f"{one}d"}
                        for one in range(_FILES)
                    ]
                },
                "expect": [
                    {"check": "exit_status", "equals": 0},
                    {"check": "removed", "exactly": []},
                    {"check": "stderr_empty"},
                ],
            }
            for number in range(CASES)
        ]
        text = json.dumps(
            {
                "format": 1,
                "statement": statement,
                "author": {"kind": "person", "name": "bench"},
                "cases": cases,
            }
        )
        keep_case_set(read_case_set(text), by=None)


async def _sign_in(people: Sequence[Person]) -> None:
    for person in people:
        await person.sign_in()
        await person.leave()


async def _work(people: Sequence[Person], campaign: int, goes_on: object) -> list[float]:
    """Let all users score until `goes_on` returns False. Return the duration of each score in seconds."""
    assert callable(goes_on)
    took: list[float] = []
    is_over = asyncio.Event()

    async def watch() -> None:
        while await asyncio.to_thread(goes_on):
            await asyncio.sleep(1)
        is_over.set()

    async def work(person: Person, chance: random.Random) -> None:
        if person.shown is None:
            await person.begin(campaign)
            await person.leave()
        await asyncio.sleep(chance.uniform(0, THINK))
        while not is_over.is_set():
            answer = await person.score(2)
            if answer.status != 200 or person.shown is None:
                raise RuntimeError(f"a score was answered with {answer.status}: {answer.body!r}")
            took.append(person.took)
            # Close the connection, because the server would close it while the user thinks.
            await person.leave()
            await asyncio.sleep(chance.uniform(0.5, 1.5) * THINK)

    seeds = enumerate(people)
    await asyncio.gather(watch(), *(work(one, random.Random(seed)) for seed, one in seeds))
    return took


def _p95(took: Sequence[float]) -> float:
    return quantiles(took, n=20)[18]


def _load() -> str:
    return f"load of the machine {os.getloadavg()[0]:.1f}"
