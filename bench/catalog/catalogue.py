"""Measure retrieval, search and pages with a catalogue of 100,000 entries while new vectors are stored."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from urllib.parse import quote

import numpy as np
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone

from bench.catalog.shelves import Forms, fill, make_model
from bench.figures import Figure, figure, machine, percentiles, size, slowness
from bench.support.statements import execute
from catalog import services
from catalog.listing.services.filters import Filters
from catalog.listing.services.search import find_near, list_entries, scope_of
from catalog.models import EmbeddingModel, Entry, Phrasing
from catalog.retrieval import answers, vector_store
from catalog.retrieval.vector_search import QueryVector
from catalog.retrieval.vector_store import Missing
from core.preloading import settle_memory
from scriptsmith_site.integrations.alerts.services import incident_page
from scriptsmith_site.models import Incident

ENTRIES = size(full=100_000, quick=10_000)
ASKED = 200
LOOKS = 40
NEAREST = 10
ADDED = 2_000  # number of vectors to store during searches
PAGE_MS = 200.0
_PLAIN_FILES = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
# Ordered from filters that match nearly all entries to filters that match almost none.
_NARROWED = {
    "most of all": Filters(state="verified"),
    "a common tag": Filters(tag="tag-0"),
    "a tag of one in 100": Filters(tag="tag-12"),
    "a rare tag": Filters(tag="tag-59"),
    "tag, risk and owner": Filters(tag="tag-0", risk="high", owner="owner-3"),
}
_PAGES = {
    "list": "/catalogue/",
    "list, far back": "/catalogue/?before=500",
    **{
        f"list by {name}": f"/catalogue/?{name}={value}"
        for name, value in (
            ("state", "verified"),
            ("state deprecated", "deprecated"),
            ("state suspended", "suspended"),
            ("risk", "high"),
            ("side_effect", "unknown"),
            ("tag", "tag-0"),
            ("rare tag", "tag-59"),
            ("owner", "owner-3"),
            ("owner nobody", "owner-nobody"),
        )
    },
}


def measure() -> list[Figure]:
    """Fill the catalogue, build the index, and time retrieval, searches and pages."""
    with override_settings(
        SCRIPTSMITH_EMBEDDER="minilm",
        STORAGES=settings.STORAGES | {"staticfiles": _PLAIN_FILES},
    ):
        model = make_model()
        forms = Forms(vector_store.embedder(), seed=1)
        began = time.perf_counter()
        fill(ENTRIES, forms, model)
        filled = time.perf_counter() - began
        build = _build_index(model)
        execute("ANALYZE")
        asked = [forms.draw().statement for _ in range(ASKED)]
        query_vectors = [
            QueryVector(model, vector) for vector in vector_store.embedder().embed(asked)
        ]
        return [
            figure("entries", Entry.objects.count(), note=f"made in {filled:.0f} s"),
            figure(
                "phrasings",
                Phrasing.objects.count(),
                note=f"{forms.embedded:,} statements embedded, the other vectors moved from those",
            ),
            *build,
            *_recall(query_vectors),
            *_speed(asked, query_vectors),
            *_store_while_searching(model, forms, query_vectors),
            *_pages(asked),
            machine(),
        ]


def _build_index(model: EmbeddingModel) -> list[Figure]:
    began = time.perf_counter()
    vector_store.create_index(model)
    taken = time.perf_counter() - began
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size(%s) / 1048576.0", [model.index_name])
        [size] = cursor.fetchone()
    return [
        figure("index built over all vectors, s", taken),
        figure("index size, MiB", size),
    ]


def _recall(query_vectors: Sequence[QueryVector]) -> list[Figure]:
    """Return the recall of exact nearest neighbors, with and without filters."""
    shares = []
    for meaning in query_vectors:
        with by_scan():
            [*_, (_, _, furthest)] = meaning.nearest_first()[:NEAREST]
        found = meaning.find(limit=answers.NEAREST_PHRASINGS)[:NEAREST]
        shares.append(sum(1 - hit.cosine <= furthest + 1e-6 for hit in found) / NEAREST)
    note = f"{len(shares)} statements, against a scan of all vectors"
    plan = query_vectors[0].nearest_first()[: answers.NEAREST_PHRASINGS].explain()
    index = query_vectors[0].model.index_name
    figures = [figure("the plan names the index", f"Index Scan using {index} " in plan, exactly=1)]
    figures += [figure("recall@10 of the index", sum(shares) / len(shares), least=0.98, note=note)]
    for name, filters in _NARROWED.items():
        figures.append(_narrowed_recall(name, filters, query_vectors[:LOOKS]))
    return figures


def _narrowed_recall(name: str, filters: Filters, query_vectors: Sequence[QueryVector]) -> Figure:
    """Return the recall of nearest neighbors among the entries that match a user's filters. Ties count as found."""
    scope = scope_of(filters)
    # Without a selective filter, vector search finds only entries that may answer.
    entries = Entry.objects.order_by() if scope.among else Entry.objects.order_by().answering()
    keys = set(list_entries(filters, among=entries).values_list("pk", flat=True))
    shares = []
    for meaning in query_vectors:
        nearest_of_all = meaning.find_among(list(keys), limit=NEAREST)
        least = nearest_of_all[-1].cosine
        found = [hit for hit in find_near(meaning, scope) if hit.entry_id in keys][:NEAREST]
        good = sum(hit.cosine >= least - 1e-6 for hit in found)
        shares.append(good / len(nearest_of_all))
    note = f"{len(keys):,} entries"
    return figure(f"recall@10, {name}", sum(shares) / len(shares), least=0.98, note=note)


def _speed(asked: Sequence[str], query_vectors: Sequence[QueryVector]) -> list[Figure]:
    return [
        *_time(
            "the nearest by the index",
            [partial(meaning.find, limit=answers.NEAREST_PHRASINGS) for meaning in query_vectors],
            25,
        ),
        *_time(
            "retrieve, with embedding and judging",
            [partial(services.retrieve, statement) for statement in asked[:LOOKS]],
        ),
        *_time(
            "scripts that an incident shows",
            [partial(_scripts_for, statement) for statement in asked[:LOOKS]],
            1_000,
        ),
        *_time(
            "search, with embedding",
            [partial(services.search_entries, statement) for statement in asked[:LOOKS]],
        ),
    ]


def _scripts_for(statement: str) -> None:
    """Find the scripts that an incident's page shows first, without a model."""
    incident = Incident(statement=statement, labels={"instance": "web-1:9100"})
    incident_page.find_scripts(incident, User(pk=0))


def _store_while_searching(
    model: EmbeddingModel, forms: Forms, query_vectors: Sequence[QueryVector]
) -> list[Figure]:
    """Store vectors on one connection while another connection searches continuously."""
    phrasings = [
        Phrasing(
            entry_id=pk, text=forms.draw().statement, source="curator", confirmed_at=timezone.now()
        )
        for pk in Entry.objects.order_by("pk").values_list("pk", flat=True)[:ADDED]
    ]
    Phrasing.objects.bulk_create(phrasings, ignore_conflicts=True)
    rows = list(vector_store.without_vector(model).values_list("pk", "entry_id", "text"))
    missing = [Missing(*row) for row in rows]
    made = forms.vectors_of(np.zeros(len(missing), dtype=np.int64))
    stop = threading.Event()
    taken: list[float] = []
    reader = threading.Thread(target=_search_until, args=(stop, query_vectors, taken))
    reader.start()
    began = time.perf_counter()
    for start in range(0, len(missing), vector_store.BATCH):
        some = slice(start, start + vector_store.BATCH)
        vector_store.store(model, missing[some], made[some])
    seconds = time.perf_counter() - began
    stop.set()
    reader.join()
    return [
        figure(
            "vectors stored a second, searched meanwhile",
            len(missing) / seconds,
            note=f"{len(missing):,} vectors, {len(taken):,} searches",
        ),
        *percentiles("a search while vectors are stored", taken, most=25 * slowness()),
    ]


def _search_until(
    stop: threading.Event, query_vectors: Sequence[QueryVector], taken: list[float]
) -> None:
    while not stop.is_set():
        for meaning in query_vectors:
            began = time.perf_counter()
            meaning.find(limit=answers.NEAREST_PHRASINGS)
            taken.append((time.perf_counter() - began) * 1_000)
            if stop.is_set():
                break
    connection.close()


def _pages(asked: Sequence[str]) -> list[Figure]:
    """Time every page for a signed-in user, and count the page's queries."""
    curator = User.objects.create_user("bench-curator", password=None)
    curator.groups.set(Group.objects.filter(name="curator"))
    client = Client(headers={"host": "localhost"})
    client.force_login(curator)
    settle_memory()  # as the web processes do
    slugs = Entry.objects.order_by("-pk").values_list("slug", flat=True)[:LOOKS]
    words = [quote(statement) for statement in asked[:LOOKS]]
    addresses = {name: [address] * LOOKS for name, address in _PAGES.items()}
    addresses |= {
        "entry page": [f"/catalogue/{slug}/" for slug in slugs],
        "search page": [f"/catalogue/?q={text}" for text in words],
        "search page by tag": [f"/catalogue/?q={text}&tag=tag-12" for text in words],
        "search page by state": [f"/catalogue/?q={text}&state=verified" for text in words],
        "API list": ["/api/v1/entries/"] * LOOKS,
        "API list by tag": ["/api/v1/entries/?tag=tag-12"] * LOOKS,
        "API search": [f"/api/v1/entries/?q={text}" for text in words],
    }
    return [
        figure
        for name, looks in addresses.items()
        for figure in _time(name, [partial(_look, client, look) for look in looks], PAGE_MS)
    ]


def _look(client: Client, address: str) -> None:
    status = client.get(address).status_code
    if status != 200:
        raise RuntimeError(f"{address} answered {status}")


def _time(
    what: str, looks: Sequence[Callable[[], object]], most: float | None = None
) -> list[Figure]:
    """Time each call. The first call runs twice, because it may fill a cache, and its queries are counted."""
    with CaptureQueriesContext(connection) as queries:
        looks[0]()
    note = f"{len(queries)} statements of SQL"  # count the queries now, because the next request resets them
    taken = []
    for look in looks:
        began = time.perf_counter()
        look()
        taken.append((time.perf_counter() - began) * 1_000)
    return percentiles(what, taken, most=most and most * slowness(), note=note)


@contextmanager
def by_scan() -> Iterator[None]:
    """Disable PostgreSQL's index scans inside the block, so that queries compare all vectors."""
    execute("SET enable_indexscan = off")
    try:
        yield
    finally:
        execute("RESET enable_indexscan")
