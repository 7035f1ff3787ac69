"""Finding entries by hand: filters, words, meaning. Needs neither model, worker nor broker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Case, Exists, OuterRef, QuerySet, Subquery, Value, When
from django.utils.translation import gettext as _

from catalog import nearest, wording
from catalog.models import Entry, Version
from catalog.services.uses import TrackRecord, track_records
from catalog.texts import LONGEST_STATEMENT, clean_text
from catalog.types import BadInput

SUSPENDED = "suspended"  # a state of entries, where the others are states of versions
MOST_FOUND = 50
CANDIDATES = 200
LEAST_COSINE = 0.35  # of a hit by meaning alone: below it, nearness says nothing
RANK_OFFSET = 60  # of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What a list of entries is narrowed to; empty is anything."""

    state: str = ""
    tag: str = ""
    risk: str = ""
    side_effect: str = ""
    owner: str = ""

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, kw_only=True)
class Found:
    """Entries that fit a query, best first; `degraded` says why the search was less than usual."""

    entries: Sequence[Entry]
    degraded: str = ""


class Listed(NamedTuple):
    """An entry in a list, by its verified version or else its newest, among those that fit."""

    entry: Entry
    version: Version
    record: TrackRecord


ANYTHING = Filters()


def list_entries(filters: Filters, *, among: QuerySet[Entry]) -> QuerySet[Entry]:
    """Those of the entries with a version that meets every filter at once. Raises BadInput."""
    if filters.state not in ("", SUSPENDED, *Version.State.values):
        raise BadInput(_("There is no such state."), field="state")
    entries = among
    if filters.state == SUSPENDED:
        entries = entries.exclude(suspended_at=None)
    if versions := _conditions(filters):
        entries = entries.filter(Exists(_versions(versions)))
    return entries


def rows_of(entries: Iterable[Entry], filters: Filters) -> list[Listed]:
    """What a list shows of these entries, in a fixed number of queries."""
    rows = list(entries)
    verified_first = Case(When(state=Version.State.VERIFIED, then=Value(0)), default=Value(1))
    best = _versions(_conditions(filters)).order_by(verified_first, "-number").values("pk")[:1]
    chosen = dict(
        Entry.objects.filter(pk__in=[entry.pk for entry in rows])
        .annotate(shown=Subquery(best))
        .values_list("pk", "shown")
    )
    versions = (
        Version.objects.select_related("owner", "author", "verified_by")
        .prefetch_related("tags")
        .in_bulk([pk for pk in chosen.values() if pk])
    )
    records = track_records(list(versions))
    return [
        Listed(entry, version, records.get(version.pk, TrackRecord()))
        for entry in rows
        if (version := versions.get(chosen.get(entry.pk, 0)))
    ]


def search_entries(query: str, *, filters: Filters = ANYTHING, limit: int = MOST_FOUND) -> Found:
    """Entries that fit the query by words in any state, or by meaning where they may answer.

    Both orders are fused by rank. Raises BadInput.
    """
    query = clean_text(query, field="q", longest=LONGEST_STATEMENT)
    orders = [wording.find_entries(query, limit=CANDIDATES)]
    degraded = ""
    try:
        near = nearest.read_meaning(query).find(limit=CANDIDATES)
        close = [hit.entry_id for hit in near if hit.cosine >= LEAST_COSINE]
        orders.append(list(dict.fromkeys(close)))
    except nearest.Degraded as why:
        degraded = str(why)
    scores: dict[int, float] = {}
    for order in orders:
        for rank, pk in enumerate(order):
            scores[pk] = scores.get(pk, 0.0) + 1 / (RANK_OFFSET + rank)
    entries = list_entries(filters, among=Entry.objects.defer("document").filter(pk__in=scores))
    best = sorted(entries, key=lambda entry: (-scores[entry.pk], entry.pk))[:limit]
    return Found(entries=best, degraded=degraded)


def _conditions(filters: Filters) -> dict[str, str]:
    """The filters as conditions on one version."""
    conditions = {
        "tags__name": filters.tag,
        "risk": filters.risk,
        "side_effect": filters.side_effect,
        "owner__username": filters.owner,
        "state": "" if filters.state == SUSPENDED else filters.state,
    }
    return {name: value for name, value in conditions.items() if value}


def _versions(conditions: dict[str, str]) -> QuerySet[Version]:
    versions = Version.objects.filter(entry=OuterRef("pk"), **conditions)
    if conditions and "state" not in conditions:
        # "High risk" asks for what is in use or may come into use, not for what it once was.
        versions = versions.exclude(state=Version.State.DEPRECATED)
    return versions
