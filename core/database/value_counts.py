"""Count the rows with each value of one or more fields in a single query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import CharField, Count, QuerySet, TextField, Value
from django.db.models.functions import Cast, Coalesce


@dataclass(frozen=True)
class Counted:
    """A field or annotation to count by value. `most` limits the result to the most frequent values."""

    rows: QuerySet[Any]
    field: str
    most: int | None = None


@dataclass
class ValueCounts:
    """The number of rows for each value (as a string), most frequent first. `rows` includes rows without a value."""

    numbers: dict[str, int] = field(default_factory=dict)
    rows: int = 0


def count_values(wanted: Mapping[str, Counted]) -> dict[str, ValueCounts]:
    """Return the value counts for each name, using a single query."""
    found = {name: ValueCounts() for name in wanted}
    queries = [
        one.rows.order_by()
        .annotate(
            facet=Value(name, CharField()),
            value=Coalesce(Cast(one.field, TextField()), Value("", TextField())),
        )
        .values("facet", "value")
        .annotate(number=Count("*"))
        for name, one in wanted.items()
    ]
    if not queries:
        return found
    rows = queries[0].union(*queries[1:], all=True) if queries[1:] else queries[0]
    for row in rows.order_by("-number", "value"):
        counts, most = found[row["facet"]], wanted[row["facet"]].most
        counts.rows += row["number"]
        if row["value"] and (most is None or len(counts.numbers) < most):
            counts.numbers[row["value"]] = row["number"]
    return found
