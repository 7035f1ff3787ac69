"""A row of a benchmark's table: the measured quantity, its value and its bounds."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import cache
from statistics import quantiles
from typing import NotRequired, TypedDict

IS_FULL = os.environ.get("BENCH_FULL") == "1"
# CPU milliseconds for a million squares in Python on the machine for which the time limits were set.
_REFERENCE_MS = 64.0


class Figure(TypedDict):
    what: str
    value: float | None  # None if not measured (`note` has the reason)
    least: NotRequired[float]
    most: NotRequired[float]
    note: NotRequired[str]


class CannotMeasure(Exception):
    """A requirement of the benchmark is missing on this machine. The message names the requirement."""


def figure(
    what: str,
    value: float | None,
    *,
    least: float | None = None,
    most: float | None = None,
    exactly: float | None = None,
    note: str = "",
) -> Figure:
    """Return a row. A row without bounds is informational."""
    made: Figure = {"what": what, "value": None if value is None else float(value)}
    for name, bound in (("least", least), ("most", most)):
        if bound is not None or exactly is not None:
            made[name] = float(exactly if bound is None else bound)  # type: ignore[literal-required, arg-type]
    return made | {"note": note} if note else made


def percentiles(
    what: str, taken: Sequence[float], *, most: float | None = None, note: str = ""
) -> list[Figure]:
    """Return rows with the median and the 95th percentile in milliseconds. `most` is the percentile's upper bound."""
    cuts = quantiles(taken, n=20)
    return [
        figure(f"{what}, p50 in ms", cuts[9], note=note),
        figure(f"{what}, p95 in ms", cuts[18], most=most),
    ]


def is_held(row: Figure) -> bool:
    """Return whether the value is within its bounds. A missing value is out of bounds if the row has bounds."""
    least, most = row.get("least"), row.get("most")
    if row["value"] is None:
        return least is None and most is None
    return (least is None or row["value"] >= least) and (most is None or row["value"] <= most)


def describe_bounds(row: Figure) -> str:
    """Return a description of the bounds, or an empty string."""
    least, most = row.get("least"), row.get("most")
    if least is not None and most is not None:
        return f"exactly {least:g}" if least == most else f"{least:g} to {most:g}"
    if least is not None:
        return f"at least {least:g}"
    return "" if most is None else f"at most {most:g}"


@cache
def slowness() -> float:
    """Return how many times slower this machine is than the reference (at least 1). Multiply time limits by it."""
    return max(1.0, min(_time_squares() for _ in range(3)) / _REFERENCE_MS)


def machine() -> Figure:
    """Return a row with the machine's speed."""
    note = f"time limits are multiplied by {slowness():.2f}; the reference is {_REFERENCE_MS:g} ms"
    return figure("the machine: processor ms for a million squares", _time_squares(), note=note)


def _time_squares() -> float:
    began = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number * number
    return (time.process_time() - began) * 1_000


def size(full: int, quick: int) -> int:
    """Return the number of rows to create: `full` with --full, or else `quick`."""
    return full if IS_FULL else quick
