"""Compare a database's responses with those of a rewritten copy, with the same keys, clocks and random seeds."""

from __future__ import annotations

import difflib
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from types import SimpleNamespace
from typing import Self

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.utils import timesince, timezone

from core.database import clock
from tests.review.blinding.parts import Part

Step = Callable[[], object]
Answer = tuple[int, tuple[tuple[str, str], ...], bytes]


@dataclass(frozen=True)
class Ask:
    """One request. Its changes are rolled back, so that each request starts from the same state."""

    method: str
    path: str
    data: dict[str, object] = field(default_factory=dict)
    as_json: bool = False
    fragment: bool = False

    def __hash__(self) -> int:
        return hash((self.method, self.path, self.fragment))

    def __str__(self) -> str:
        data = f" {self.data}" if self.data else ""
        return f"{self.method}{' (htmx)' if self.fragment else ''} {self.path}{data}"


@contextmanager
def standing_still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Freeze the clocks of Python and PostgreSQL until the block ends."""
    moment = timezone.now()
    with monkeypatch.context() as patch, connection.cursor() as cursor:
        # Model fields have `timezone.now` itself as their default, so replace the clock that it reads.
        patch.setattr(timezone, "datetime", _still(moment))
        # The filter for "goes back in 27 minutes" reads the clock directly.
        patch.setattr(timesince, "datetime", SimpleNamespace(datetime=_still(moment)))
        patch.setattr(time, "time", lambda: moment.timestamp())
        # `timezone.now` extrapolates from a reading of the database's clock.
        patch.setattr(clock, "_reading", clock._Reading(moment, uptime=0.0))
        patch.setattr(clock, "_uptime", lambda: 0.0)
        cursor.execute("CREATE SCHEMA IF NOT EXISTS still")
        for name in ("clock_timestamp", "statement_timestamp", "transaction_timestamp", "now"):
            cursor.execute(
                f"CREATE OR REPLACE FUNCTION still.{name}() RETURNS timestamptz IMMUTABLE LANGUAGE sql"
                f" AS $$ SELECT '{_as_text(moment)}'::timestamptz $$"
            )
        cursor.execute("SET LOCAL search_path = still, public, pg_catalog")
        yield


def _as_text(moment: datetime) -> str:
    return moment.isoformat()


class _AnyDatetime(type):
    """A metaclass that makes every datetime an instance of the frozen class."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, datetime)


def _still(moment: datetime) -> type[datetime]:
    class Still(datetime, metaclass=_AnyDatetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return moment.astimezone(tz)

    return Still


class Dice:
    """A source of random numbers with a fixed seed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._drawn = random.Random(0)
        patch.setattr(os, "urandom", self.draw)
        # `secrets` and `random.SystemRandom` import the function under this name.
        patch.setattr(random, "_urandom", self.draw)

    def draw(self, count: int) -> bytes:
        return self._drawn.randbytes(count)

    def again(self) -> None:
        """Restart the sequence of random numbers."""
        self._drawn.seed(0)


class Differs(AssertionError):
    """Raised if a hidden part is visible."""


@dataclass(frozen=True)
class Side:
    """A second database: how it is rewritten, and which parts of its responses may differ."""

    name: str
    rewrite: Step
    may_show: Sequence[Part] = ()


def compare(
    monkeypatch: pytest.MonkeyPatch,
    client: Client,
    asks: Sequence[Ask],
    *sides: Side,
    begin: Step = lambda: None,
) -> int:
    """Compare the responses after `begin` with those of each other side, and return the number of requests.

    Raises Differs with the first differences. The error also lists the parts that may differ but never do, because
    these should not be allowed.
    """
    told: list[str] = []
    with standing_still(monkeypatch), monkeypatch.context() as patch:
        dice, sequences = Dice(patch), _read_sequences()
        client.get("/settings/")  # the first response sets the CSRF cookie

        def walk(step: Step, asks: Sequence[Ask]) -> dict[Ask, Answer]:
            cache.clear()
            _set_sequences(sequences)
            undo = transaction.savepoint()
            step()
            answers = {ask: _answer(client, ask, dice) for ask in asks}
            transaction.savepoint_rollback(undo)
            return answers

        usual = walk(begin, asks)
        # A wrong method is rejected before any view reads data.
        asks = [ask for ask in asks if usual[ask][0] != 405]
        for side in sides:
            others = walk(side.rewrite, asks)
            # Values that a process generates once, on first use, are not differences. A second request removes them.
            usual |= walk(begin, [ask for ask in asks if usual[ask] != others[ask]])
            differ, idle = _differences(side, usual, others)
            if differ:
                told += [f"{side.name}: {len(differ)} of {len(asks)} answers differ", *differ[:12]]
            told += [f"{side.name}: {part} is the same on both sides" for part in idle]
    if told:
        raise Differs("\n".join(told))
    answered = sum(200 <= usual[ask][0] < 400 for ask in asks)
    # Reviewers may not open most addresses, but they may open most of the addresses about one item.
    assert answered >= min(60, len(asks) // 4), (
        f"{answered} of {len(asks)} were answered: too little"
    )
    return len(asks) * len(sides)


def _differences(
    side: Side, usual: dict[Ask, Answer], others: dict[Ask, Answer]
) -> tuple[list[str], set[Part]]:
    """Return the unexpected differences as text, and the allowed parts that never differ."""
    differ, idle = [], set(side.may_show)
    for ask, other in others.items():
        one = usual[ask]
        if one == other:
            continue
        parts = [part for part in side.may_show if part.is_of(ask.path)]
        for part in parts:
            (one, shown), (other, shown_there) = _without(part, one), _without(part, other)
            if shown != shown_there:
                idle.discard(part)
        if one != other:
            differ.append(_say(ask, one, other))
    return differ, idle


def _without(part: Part, answer: Answer) -> tuple[Answer, list[str]]:
    """Return the response without this part, and the removed texts. Also drop its length and ETag."""
    status, headers, body = answer
    rest, shown = part.take_out(body.decode(errors="surrogateescape"))
    if not shown:
        return answer, shown
    kept = tuple(one for one in headers if one[0] not in ("Content-Length", "ETag"))
    return (status, kept, rest.encode(errors="surrogateescape")), shown


def _answer(client: Client, ask: Ask, dice: Dice) -> Answer:
    dice.again()
    headers = {"HX-Request": "true"} if ask.fragment else {}
    undo = transaction.savepoint()
    options = {"content_type": "application/json"} if ask.as_json else {}
    answer = client.generic if ask.method not in ("GET", "POST", "DELETE") else None
    if answer is not None:
        said = client.generic(ask.method, ask.path, headers=headers)
    elif ask.method == "POST":
        said = client.post(ask.path, ask.data, headers=headers, **options)
    elif ask.method == "DELETE":
        said = client.delete(ask.path, headers=headers)
    else:
        said = client.get(ask.path, ask.data, headers=headers)
    body = b"".join(said) if said.streaming else said.content
    transaction.savepoint_rollback(undo)
    # Compare cookies too, because they can store a pending message.
    sent = [
        *said.headers.items(),
        *(("Set-Cookie", one.OutputString()) for one in said.cookies.values()),
    ]
    client.cookies.pop("messages", None)
    return said.status_code, tuple(sorted(sent)), body


def _say(ask: Ask, one: Answer, other: Answer) -> str:
    if one[0] != other[0]:
        return f"{ask}: {one[0]} and {other[0]}"
    if one[1] != other[1]:
        return f"{ask}: headers {set(one[1]) ^ set(other[1])}"
    lines = (
        side[2].decode(errors="replace").replace(">", ">\n").replace(",", ",\n").splitlines()
        for side in (one, other)
    )
    changes = [line for line in difflib.unified_diff(*lines, lineterm="", n=0) if line[:1] in "+-"]
    return f"{ask}: " + " | ".join(changes[2:10])


def _read_sequences() -> list[tuple[str, int | None]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(sequencename), last_value FROM pg_sequences"
        )
        return list(cursor.fetchall())


def _set_sequences(sequences: Sequence[tuple[str, int | None]]) -> None:
    with connection.cursor() as cursor:
        for name, last in sequences:
            cursor.execute("SELECT setval(%s, %s, %s)", [name, last or 1, last is not None])
