"""Measure a growing catalogue from ten thousand entries, and a growing study from thirty thousand scores.

Any sizes are possible, including 1,000,000 entries and 10,000,000 scores. The results of each size are printed and
plotted before the next size, so you can interrupt the benchmark. The plots are written to bench/results/scale-*.svg.
After BENCH_SCALE_MINUTES, neither benchmark starts another size. BENCH_SCALE_MEMORY sets `maintenance_work_mem` for
building the index.

Usage: BENCH_SCALE_ENTRIES=10000,30000,100000 BENCH_SCALE_SCORES=100000,300000 python -m bench scale
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import quantiles

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import override_settings

from bench.catalog.catalogue import NEAREST, by_scan
from bench.catalog.shelves import Forms, fill, make_model
from bench.figures import IS_FULL, Figure, figure, slowness
from bench.study.growth_plot import Curve, draw
from bench.study.study import change_a_score, fill_first, grow, last_keys, tidy
from bench.support.statements import execute
from bench.support.worker import memory_of
from catalog import services as catalog
from catalog.models import EmbeddingModel, Phrasing
from catalog.retrieval import answers, vector_store
from catalog.retrieval.vector_search import QueryVector
from core.preloading import settle_memory
from review.campaigns.services import rules
from review.counting import tallies
from review.models import Campaign, Score
from review.queue import services as queue
from review.report import services as report

ENTRIES = os.environ.get("BENCH_SCALE_ENTRIES", "10000,30000,100000,300000" if IS_FULL else "10000")
SCORES = os.environ.get("BENCH_SCALE_SCORES", "30000,100000,300000,1000000" if IS_FULL else "30000")
RESULTS = Path(__file__).parents[1] / "results"
ASKED = 100
LOOKS = 20
IMPORTED = 1_000  # rows of scores to import
# Number of scores in each copy of the original rows of bench.study.study.
_SCORES_A_COPY = 24_400
_MAINTENANCE = os.environ.get("BENCH_SCALE_MEMORY", "512MB")  # same as on the product's own server
_MINUTES = float(os.environ.get("BENCH_SCALE_MINUTES", "inf"))
_PLAIN_FILES = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
_MIB = 1_048_576

Points = dict[str, list[tuple[int, float]]]


def measure() -> list[Figure]:
    """Run both benchmarks. Print each size's figures immediately."""
    plain = settings.STORAGES | {"staticfiles": _PLAIN_FILES}
    with override_settings(SCRIPTSMITH_EMBEDDER="minilm", STORAGES=plain):
        return [*_grow_catalogue(_sizes(ENTRIES)), *_grow_study(_sizes(SCORES))]


def _sizes(words: str) -> list[int]:
    return sorted(int(word) for word in words.split(",") if word)


def _in_time(sizes: Sequence[int]) -> Iterator[int]:
    """Yield the sizes in order until the time limit. Always yield the first size."""
    began = time.monotonic()
    for place, size in enumerate(sizes):
        if place and time.monotonic() - began > 60 * _MINUTES:
            print(f"{_MINUTES:g} minutes are over: {size:,} is not begun", flush=True)
            return
        yield size


def _bounds(what: str) -> dict[str, float]:
    """Return the bounds of a figure, which are the same for all sizes."""
    if what.startswith("recall@10"):
        return {"least": 0.96}
    if what in ("report, p95 ms", "dashboard, p95 ms", "next item, p95 ms"):
        return {"most": 200 * slowness()}
    return {}


class _Growth:
    """Figures by size. Each figure is printed immediately, and all figures are plotted after each size."""

    def __init__(self, name: str, title: str) -> None:
        self.figures: list[Figure] = []
        self._name, self._title = name, title
        self._points: Points = {}

    def note(self, size: int, what: str, value: float, note: str = "") -> None:
        row = figure(f"{size:,} {self._name}: {what}", value, **_bounds(what), note=note)
        self.figures.append(row)
        self._points.setdefault(what, []).append((size, value))
        print(f"{row['what']}: {value:.3f} {note}", flush=True)

    def draw(self) -> None:
        curves = [Curve(what, points) for what, points in self._points.items()]
        picture = draw(curves, across=self._name, title=self._title)
        (RESULTS / f"scale-{self._name}.svg").write_text(picture)
        (RESULTS / f"scale-{self._name}.json").write_text(json.dumps(self._points, indent=1))


def _grow_catalogue(sizes: Sequence[int]) -> list[Figure]:
    growth = _Growth("entries", "The catalogue as it grows")
    if not sizes:
        return []
    model = make_model()
    forms = Forms(vector_store.embedder(), seed=1)
    asked = [forms.draw().statement for _ in range(ASKED)]
    meanings = [QueryVector(model, vector) for vector in vector_store.embedder().embed(asked)]
    execute(f"SET maintenance_work_mem = '{_MAINTENANCE}'")
    before = 0
    for size in _in_time(sizes):
        execute(f'DROP INDEX IF EXISTS "{model.index_name}"')
        began = time.perf_counter()
        fill(size, forms, model, before=before)
        growth.note(size, "rows made, a second", (size - before) / (time.perf_counter() - began))
        _measure_catalogue(growth, size, model, asked, meanings)
        growth.draw()
        before = size
    return growth.figures


def _measure_catalogue(
    growth: _Growth,
    size: int,
    model: EmbeddingModel,
    asked: Sequence[str],
    meanings: Sequence[QueryVector],
) -> None:
    phrasings = Phrasing.objects.count()
    # Apply this setting again, because `fill` closes the connection.
    execute(f"SET maintenance_work_mem = '{_MAINTENANCE}'")
    began = time.perf_counter()
    vector_store.create_index(model)
    growth.note(size, "index built, s", time.perf_counter() - began, f"{phrasings:,} vectors")
    growth.note(size, "memory of the build, MiB", _backend_memory())
    execute("ANALYZE")
    growth.note(size, "index, MiB", _size_of(model.index_name) / _MIB)
    growth.note(size, "all tables and indexes, MiB", _size_of_everything() / _MIB)
    growth.note(size, "recall@10 of the index", _recall(meanings))
    nearest = [partial(meaning.find, limit=answers.NEAREST_PHRASINGS) for meaning in meanings]
    growth.note(size, "nearest by the index, p95 ms", _p95(nearest))
    growth.note(size, "retrieve, p95 ms", _p95([partial(catalog.retrieve, one) for one in asked]))
    searches = [partial(catalog.search_entries, one) for one in asked]
    growth.note(size, "search, p95 ms", _p95(searches))


def _recall(meanings: Sequence[QueryVector]) -> float:
    shares = []
    for meaning in meanings:
        with by_scan():
            [*_, (_, _, furthest)] = meaning.nearest_first()[:NEAREST]
        found = meaning.find(limit=answers.NEAREST_PHRASINGS)[:NEAREST]
        shares.append(sum(1 - hit.cosine <= furthest + 1e-6 for hit in found) / NEAREST)
    return sum(shares) / len(shares)


def _grow_study(sizes: Sequence[int]) -> list[Figure]:
    growth = _Growth("scores", "A study as it grows")
    if not sizes:
        return []
    manager = User.objects.create_superuser("scale-manager")
    campaign = rules.create_campaign("Growing", by=manager)
    fill_first(campaign)
    last = last_keys()
    Campaign.objects.filter(pk=campaign.pk).update(state="open", open_to_all=True)
    campaign.refresh_from_db()
    client = Client(headers={"host": "localhost"})
    client.force_login(manager)
    settle_memory()  # as the web processes do
    copies = 1
    for size in _in_time(sizes):
        wanted = max(copies, size // _SCORES_A_COPY)
        began = time.perf_counter()
        grow(campaign, wanted, before=copies, last=last)
        taken = time.perf_counter() - began
        made = Score.objects.filter(item__campaign=campaign).count()
        growth.note(made, "rows multiplied, s", taken)
        copies = wanted
        _measure_study(growth, made, campaign, client)
        growth.draw()
    return growth.figures


def _measure_study(growth: _Growth, size: int, campaign: Campaign, client: Client) -> None:
    items = campaign.items.count()
    began = time.perf_counter()
    tallies.count_due(campaign)
    growth.note(size, "all items counted, s", time.perf_counter() - began, f"{items:,} items")
    tidy()
    growth.note(size, "all tables and indexes, MiB", _size_of_everything() / _MIB)
    where = f"/campaigns/{campaign.pk}/"
    change = partial(change_a_score, campaign)
    growth.note(
        size,
        "report, p95 ms",
        _p95([partial(report.make_report, campaign)] * LOOKS, before=change),
        "a score arrives before each",
    )
    look = partial(_look, client, where)
    growth.note(size, "dashboard, p95 ms", _p95([look] * LOOKS, before=change))
    growth.note(size, "next item, p95 ms", _p95(_claims(campaign, size)), "claim and write")
    growth.note(size, "scores imported, rows/s", IMPORTED / _import_scores(campaign, size))
    growth.note(size, "memory of this process, MiB", memory_of(os.getpid()))


def _claims(campaign: Campaign, size: int) -> list[Callable[[], object]]:
    """Return functions that claim an item for a new reviewer."""
    people = [User.objects.create_superuser(f"scale-{size}-{number}") for number in range(LOOKS)]
    return [partial(_claim, campaign, person) for person in people]


def _claim(campaign: Campaign, person: User) -> None:
    if queue.claim_next(campaign, by=person) is None:
        raise RuntimeError("there was nothing to review")


def _import_scores(campaign: Campaign, size: int) -> float:
    """Import another reviewer's scores with the management command. Return the duration in seconds."""
    names = campaign.cases.order_by("pk").values_list("external_id", flat=True)[:IMPORTED]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.jsonl"
        row = {"reviewer": f"expert-{size}", "configuration": "demo", "script": 2}
        path.write_text("".join(json.dumps({"item": name} | row) + "\n" for name in names))
        began = time.perf_counter()
        with open(os.devnull, "w") as nowhere:
            call_command("import_scores", campaign.name, str(path), stdout=nowhere)
        return time.perf_counter() - began


def _p95(
    looks: Sequence[Callable[[], object]], *, before: Callable[[], object] | None = None
) -> float:
    looks[0]()
    taken = []
    for look in looks[1:]:
        if before is not None:
            before()
        began = time.perf_counter()
        look()
        taken.append((time.perf_counter() - began) * 1_000)
    return quantiles(taken, n=20)[18]


def _look(client: Client, address: str) -> None:
    status = client.get(address).status_code
    if status != 200:
        raise RuntimeError(f"{address} answered {status}")


def _backend_memory() -> float:
    """Return the peak memory of this connection's PostgreSQL process in MiB, including shared memory."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [pid] = cursor.fetchone()
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise LookupError(pid)


def _size_of(relation: str) -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size(%s)", [relation])
        return float(cursor.fetchone()[0])


def _size_of_everything() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return float(cursor.fetchone()[0])
