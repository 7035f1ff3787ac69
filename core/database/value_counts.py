"""How many rows have each value: the counts of several filters in one query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import CharField, Count, QuerySet, TextField, Value
from django.db.models.functions import Cast


@dataclass(frozen=True)
class Counted:
    """Rows whose values of a field or annotation are counted: of the most frequent `most`, where there are many."""

    rows: QuerySet[Any]
    field: str
    most: int | None = None


def count_values(wanted: Mapping[str, Counted]) -> dict[str, dict[str, int]]:
    """For each name the values with their numbers, most frequent first, in one query; empty values are left out."""
    found: dict[str, dict[str, int]] = {name: {} for name in wanted}
    queries = []
    for name, one in wanted.items():
        counted = (
            one.rows.filter(**{f"{one.field}__isnull": False})
            .order_by()
            .annotate(facet=Value(name, CharField()), value=Cast(one.field, TextField()))
            .values("facet", "value")
            .annotate(number=Count("*"))
            .order_by("-number", "value")
        )
        queries.append(counted[: one.most])
    for row in queries[0].union(*queries[1:], all=True) if queries else ():
        if row["value"] != "":
            found[row["facet"]][row["value"]] = row["number"]
    return found
