"""Measure the review cycle over HTTP in a campaign with 100,000 items, and let 50 reviewers race.

A cycle is a claim and a score. The response to an item's last score contains the next item. Server, database and
reviewers run on the same machine, as they did when the bounds were set.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from statistics import quantiles
from typing import TYPE_CHECKING

from bench.figures import Figure, figure, machine, size, slowness
from bench.review.client import Person
from bench.support.product import Product, running

if TYPE_CHECKING:
    from review.models import Campaign

CASES, COPIES = 1_000, size(full=100, quick=10)  # 100,000 or 10,000 items
# Minimum cycles per second by number of reviewers. The bounds for 8 and 32 reviewers are eight times the rates of Label
# Studio on the reference machine (11.8 and 10.8).
CROWDS = {1: 45, 8: 94, 32: 86}
SECONDS = float(size(full=20, quick=8))
_WARM = 3.0
_RACERS = 50


def measure() -> list[Figure]:
    """Measure the pace of 1, 8 and 32 reviewers, and run races with overlap 1 and 3."""
    with running(SCRIPTSMITH_REVIEW_LEASE_MINUTES="1") as product:
        # Import these modules here, because they need the settings that `running` sets.
        from bench.review import race
        from bench.review.rows import PASSWORD, make_people, make_study

        users = make_people(_RACERS)
        study = make_study("Study of the bench", people=users, cases=CASES, copies=COPIES)
        people = [Person(product.url, user.username, PASSWORD) for user in users]
        asyncio.run(_sign_in(people))
        figures = []
        for crowd, least in CROWDS.items():
            figures += measure_pace(product, study, people[:crowd], least=least)
        figures.append(figure("web processes in MiB", product.web_memory(), most=300))
        for overlap in (1, 3):
            figures += race.race(people, users, overlap=overlap)
        figures.append(machine())
    return figures


def measure_pace(
    product: Product, study: Campaign, people: Sequence[Person], *, least: float
) -> list[Figure]:
    """Return the cycles per second of these reviewers, the time per cycle, and the CPU time per process."""
    asyncio.run(_work(people, study.pk, _WARM))
    before = _used(product)
    took = asyncio.run(_work(people, study.pk, SECONDS))
    used = {
        who: (seconds - before[who]) / len(took) * 1_000 for who, seconds in _used(product).items()
    }
    cuts = quantiles(took, n=20)
    of = f"with {len(people)}"
    return [
        figure(f"cycles a second {of}", len(took) / SECONDS, least=least / slowness()),
        figure(f"p50 in ms {of}", cuts[9] * 1_000, most=350 * slowness()),
        figure(f"p95 in ms {of}", cuts[18] * 1_000),
        *(figure(f"processor ms a cycle {of}: {who}", ms) for who, ms in used.items()),
    ]


def _used(product: Product) -> dict[str, float]:
    """Return the CPU seconds used so far, by process."""
    return {
        "web": product.web_seconds(),
        "database": product.database_seconds(),
        "worker": product.worker_seconds(),
        "the people": time.process_time(),
    }


async def _sign_in(people: Sequence[Person]) -> None:
    for person in people:
        await person.sign_in()
        await person.leave()


async def _work(people: Sequence[Person], campaign: int, seconds: float) -> list[float]:
    """Let all reviewers work for `seconds` seconds. Return the duration of each cycle."""
    took: list[float] = []
    for person in people:
        if person.shown is None:
            await person.begin(campaign)
        await person.leave()
    end = time.perf_counter() + seconds

    async def work(person: Person) -> None:
        while time.perf_counter() < end:
            answer = await person.score(2)
            if answer.status != 200 or person.shown is None:
                raise RuntimeError(f"a score was answered with {answer.status}: {answer.body!r}")
            took.append(person.took)
        await person.leave()

    await asyncio.gather(*(work(person) for person in people))
    return took
