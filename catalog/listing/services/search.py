"""Search entries by filters, text and meaning. Text search also works without a model, worker or broker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Case, Exists, QuerySet, Subquery, Value, When

from catalog.entries.services.uses import TrackRecord, track_records
from catalog.listing.services.filters import (
    MERGED,
    SUSPENDED,
    Filters,
    conditions_of,
    versions_with,
)
from catalog.models import Entry, Version
from catalog.retrieval import text_search, vector_search
from core.database.key_lists import is_among, place_in
from core.texts import LONGEST_STATEMENT, clean_text

MOST_FOUND = 50
CANDIDATES = 200
# If at most NARROW entries match the filters, the search compares all of them. Otherwise it retrieves WIDE_CANDIDATES
# candidates and filters them.
NARROW = 3_000
WIDE_CANDIDATES = 1_000
BEFORE_MATCH = 20  # characters shown before the match in a long line
SHORTEST_WORD = 2  # shorter words are not searched in the lines of a script
RANK_OFFSET = 60  # constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Entries that match a query, best first. `degraded` says why the search was limited."""

    entries: Sequence[Entry]
    degraded: str = ""


class Scope(NamedTuple):
    """The scope of a search: only the entries in `among`, or the `most` best matches in the whole catalogue."""

    among: list[int] | None
    most: int


class Listed(NamedTuple):
    """An entry in a list, with the verified or else the newest of its matching versions."""

    entry: Entry
    version: Version
    record: TrackRecord


ANYTHING = Filters()


def list_entries(filters: Filters, *, among: QuerySet[Entry]) -> QuerySet[Entry]:
    """Return the entries with a version that matches all filters. Raises BadInput."""
    filters.check()
    entries = among.filter(merged_into__isnull=filters.state != MERGED)
    if filters.state == SUSPENDED:
        entries = entries.exclude(suspended_at=None)
    if conditions := conditions_of(filters):
        entries = entries.filter(Exists(versions_with(conditions)))
    return entries


def rows_of(entries: Iterable[Entry], filters: Filters) -> list[Listed]:
    """Return the list rows for these entries, in a fixed number of queries."""
    rows = list(entries)
    verified_first = Case(When(state=Version.State.VERIFIED, then=Value(0)), default=Value(1))
    best = (
        versions_with(conditions_of(filters)).order_by(verified_first, "-number").values("pk")[:1]
    )
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


def search_entries(
    query: str, *, filters: Filters = ANYTHING, limit: int = MOST_FOUND
) -> SearchResult:
    """Return the entries that text search finds in any state, and the entries with a similar meaning that may answer.

    If few entries match the filters, entries in any state are compared by meaning. Reciprocal rank fusion combines both
    rankings. Raises BadInput.
    """
    query = clean_text(query, field="q", longest=LONGEST_STATEMENT)
    scope = scope_of(filters)
    orders = [text_search.find_entries(query, limit=scope.most, among=scope.among)]
    degraded = ""
    try:
        near = find_near(vector_search.embed_query(query), scope)
        close = [hit.entry_id for hit in near if hit.cosine >= vector_search.LEAST_COSINE]
        orders.append(list(dict.fromkeys(close)))
    except vector_search.Degraded as why:
        degraded = str(why)
    scores: dict[int, float] = {}
    for order in orders:
        for rank, pk in enumerate(order):
            scores[pk] = scores.get(pk, 0.0) + 1 / (RANK_OFFSET + rank)
    if not scores:
        return SearchResult(entries=(), degraded=degraded)
    best = sorted(scores, key=lambda pk: (-scores[pk], pk))
    among = Entry.objects.defer("document").filter(is_among("pk", best))
    # Entries from a limited scope already match the filters.
    entries = list_entries(filters, among=among) if scope.among is None else among
    return SearchResult(
        entries=list(entries.order_by(place_in(best, "pk"))[:limit]), degraded=degraded
    )


def show_entries(entries: Iterable[Entry]) -> list[Listed]:
    """Return the list rows for these entries without filters, in a fixed number of queries."""
    return rows_of(entries, ANYTHING)


def line_with(query: str, script: str, *, title: str) -> str:
    """Return the script line with the most query words that are not in the title, or an empty string."""
    words = {word for word in query.casefold().split() if len(word) >= SHORTEST_WORD}
    words -= {word for word in words if word in title.casefold()}
    lines = [line.strip() for line in script.splitlines() if not line.startswith("#!")]
    best = max(lines, key=lambda line: _words_in(line, words), default="")
    at = min((best.casefold().find(word) for word in words if word in best.casefold()), default=-1)
    if at < 0:
        return ""
    return f"…{best[at - BEFORE_MATCH :]}" if at > 2 * BEFORE_MATCH else best


def _words_in(line: str, words: Iterable[str]) -> int:
    folded = line.casefold()
    return sum(word in folded for word in words)


def scope_of(filters: Filters) -> Scope:
    """Return the scope of a search with these filters."""
    if not filters:
        return Scope(None, CANDIDATES)
    fitting = list_entries(filters, among=Entry.objects.order_by())
    keys = list(fitting.values_list("pk", flat=True)[: NARROW + 1])
    return Scope(keys, CANDIDATES) if len(keys) <= NARROW else Scope(None, WIDE_CANDIDATES)


def find_near(query: vector_search.QueryVector, scope: Scope) -> list[vector_search.Near]:
    """Return the nearest phrasings in scope."""
    if scope.among is None:
        return query.find(limit=scope.most)
    return query.find_among(scope.among, limit=scope.most)
