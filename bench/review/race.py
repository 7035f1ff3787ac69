"""Let 50 reviewers race for a study's items. Leases expire, and some reviewers skip items or leave early.

Then check in the database that no item was over-assigned or forgotten.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.utils import timezone

from bench.figures import Figure, figure, size
from bench.review.client import Person
from bench.review.rows import make_study
from review import services
from review.models import Assignment, Campaign, Item

PLACES = size(full=900, quick=300)  # total number of scores, for any overlap
_GONE = 10  # number of reviewers who leave early with a claimed item
_LATEST = 900.0  # seconds after which the race is stopped
_RUN_OUT, _EVERY = 4, 0.5  # number of leases to expire, and the interval in seconds
_SKIPS = 0.03


@dataclass
class Told:
    """Response statistics of a race."""

    scored: Counter[str] = field(default_factory=Counter)
    lost: int = 0  # scores for an item whose lease had expired
    errors: list[str] = field(default_factory=list)
    longest: float = 0.0  # duration of the slowest response in seconds
    is_over: bool = False
    is_stopped: bool = False  # True if the time limit ended the race while items were open


def race(people: Sequence[Person], users: Sequence[User], *, overlap: int) -> list[Figure]:
    """Let all reviewers work concurrently until every item has its scores. Return the figures."""
    name = f"Race with overlap {overlap}"
    study = make_study(name, people=list(users), cases=PLACES // overlap, overlap=overlap)
    told = Told()
    began = time.perf_counter()
    asyncio.run(_race(people, study, told))
    seconds = time.perf_counter() - began
    return _account(study, people, told, seconds)


async def _race(people: Sequence[Person], study: Campaign, told: Told) -> None:
    chance = random.Random(study.overlap)
    stay = {person.name: chance.randint(2, 8) for person in people[:_GONE]}
    work = [_work(person, study, told, chance, stay.get(person.name)) for person in people]
    clock = asyncio.create_task(
        _let_leases_run_out(study, [one.name for one in people[:_GONE]], told)
    )
    await asyncio.gather(*work)
    await clock


async def _work(
    person: Person, study: Campaign, told: Told, chance: random.Random, most: int | None
) -> None:
    """Score items until the race is over. If `most` is set, leave after that many scores with a claimed item."""
    person.shown = None
    while not told.is_over:
        if person.shown is None:
            await _note(person, person.begin(study.pk), told, expected=(200,))
            if person.shown is None:
                await asyncio.sleep(0.3)
            continue
        if most is not None and told.scored[person.name] >= most:
            break
        if chance.random() < _SKIPS:
            await _note(person, person.give_back(), told, expected=(200, 204, 403, 409))
            continue
        status = await _note(person, person.score(2), told, expected=(200, 204, 409))
        if status in (200, 204):
            told.scored[person.name] += 1
        else:
            told.lost += 1
            person.shown = None
    await person.leave()


async def _note(person: Person, asked: object, told: Told, *, expected: tuple[int, ...]) -> int:
    answer = await asked  # type: ignore[misc]
    told.longest = max(told.longest, person.took)
    if answer.status not in expected:
        told.errors.append(f"{answer.status} {answer.body[:300]!r}")
        if len(told.errors) > 50:
            told.is_over = True
    return answer.status


async def _let_leases_run_out(study: Campaign, gone: Sequence[str], told: Told) -> None:
    """Expire a few random leases and the leases of absent reviewers periodically, until the race is over."""
    deadline = time.perf_counter() + _LATEST
    while not told.is_over:
        await asyncio.sleep(_EVERY)
        told.is_over = await asyncio.to_thread(_pass_time, study, gone)
        if time.perf_counter() > deadline:
            told.is_stopped = told.is_over = True


def _pass_time(study: Campaign, gone: Sequence[str]) -> bool:
    active = Assignment.objects.filter(item__campaign=study, state=Assignment.State.ACTIVE)
    some = list(active.order_by("?").values_list("pk", flat=True)[:_RUN_OUT])
    left = Q(reviewer__username__in=gone, created_at__lt=timezone.now() - timedelta(seconds=5))
    over = Assignment.objects.filter(Q(pk__in=some) | left & Q(pk__in=active.values("pk")))
    over.update(lease_until=timezone.now() - timedelta(seconds=1))
    services.expire_leases()
    return not study.items.exclude(state=Item.State.CLOSED).exists()


def _account(study: Campaign, people: Sequence[Person], told: Told, seconds: float) -> list[Figure]:
    stayed = [told.scored[person.name] for person in people[_GONE:]]
    run_out = study.items.filter(assignments__state=Assignment.State.EXPIRED).count()
    scored = study.items.annotate(
        given=Count("scores", Q(scores__current=True)),
        by=Count("scores__reviewer", Q(scores__current=True), distinct=True),
    )
    wrong = scored.exclude(given=study.overlap, by=study.overlap, places=0)
    for error in told.errors[:5]:
        print(error)
    rows: list[tuple[str, float, int | None]] = [
        (f"stopped by the limit of {_LATEST:g} s", told.is_stopped, 0),
        ("items over-assigned at any moment", _over_assigned(study), 0),
        ("items not closed at the end", study.items.exclude(state=Item.State.CLOSED).count(), 0),
        ("items without exactly their scores", wrong.count(), 0),
        ("responses that were errors", len(told.errors), 0),
        ("reviewers who stayed and got no item", sum(not count for count in stayed), 0),
        ("fewest items of one who stayed", min(stayed), None),
        ("most items of one who stayed", max(stayed), None),
        ("leases that ran out", run_out, None),
        ("scores refused because the lease had run out", told.lost, None),
        ("longest response in ms", told.longest * 1_000, None),
        ("seconds in total", seconds, None),
    ]
    of = f"race, overlap {study.overlap}"
    return [figure(f"{of}: {what}", value, exactly=bound) for what, value, bound in rows]


def _over_assigned(study: Campaign) -> int:
    """Return the number of items that had too many assignments at the same time."""
    moves: dict[int, list[tuple[float, int]]] = {}
    for item, state, began, ended in Assignment.objects.filter(item__campaign=study).values_list(
        "item", "state", "created_at", "ended_at"
    ):
        moves.setdefault(item, []).append((began.timestamp(), 1))
        if state not in Assignment.HOLDING:
            moves[item].append((ended.timestamp(), -1))
    return sum(_most_at_once(one) > study.overlap for one in moves.values())


def _most_at_once(moves: list[tuple[float, int]]) -> int:
    most = now = 0
    for _at, change in sorted(moves):
        now += change
        most = max(most, now)
    return most
