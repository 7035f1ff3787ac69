"""Check that a blinded reviewer can't infer a verdict, using the real pipeline and an assessor that decides at random.

All pages and API responses for the reviewer are split into numbers, ranks, lengths, IDs and times. None of these
quantities may predict the verdict better than chance.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bench.figures import IS_FULL, Figure, figure, size
from bench.support.worker import worker

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from review.models import Item

ITEMS = size(full=1_000, quick=200)  # half of them flagged
# Nearly four standard errors of an AUC around 0.5. The standard error is .018 for two groups of 500, and .041 for two
# groups of 100.
_MARGIN = 0.07 if IS_FULL else 0.16
LOW, HIGH = 0.5 - _MARGIN, 0.5 + _MARGIN
SEED = 20261122
_LATENCY = 0.02
_THREADS = 16
_PATIENCE = 3_600.0
_NAME = "coin"

# Values by quantity and item. A missing value may also reveal the verdict.
Readings = dict[str, dict[int, float]]


def measure() -> list[Figure]:
    """Create and run the items, read them as a reviewer, and compare each quantity with the verdicts."""
    with _coin() as environment:
        verdicts = _run_all(environment)
    readings = _read_without_a_server()
    flagged = {item for item, verdict in verdicts.items() if verdict == "incorrect"}
    aucs = {name: area(values, flagged, set(verdicts)) for name, values in sorted(readings.items())}
    figures: list[Figure] = [
        figure("items", len(verdicts), exactly=ITEMS),
        figure("of them flagged", len(flagged), exactly=ITEMS // 2),
        figure("quantities", len(aucs)),
        figure(
            "outside of the bound",
            sum(not LOW <= value <= HIGH for value in aucs.values()),
            exactly=0,
        ),
    ]
    figures += [figure(name, value, least=LOW, most=HIGH) for name, value in aucs.items()]
    return figures


def area(values: Mapping[int, float], flagged: set[int], items: set[int]) -> float:
    """Return the area under the ROC curve: how often a flagged item has a larger value than a passed item.

    Ties count half. A missing value is smaller than all other values, because its absence is visible.
    """
    ranked = sorted(items, key=lambda item: values.get(item, -float("inf")))
    total, begin = 0.0, 0
    while begin < len(ranked):
        value, end = values.get(ranked[begin]), begin
        while end < len(ranked) and values.get(ranked[end]) == value:
            end += 1
        middle = (begin + end + 1) / 2
        total += middle * sum(item in flagged for item in ranked[begin:end])
        begin = end
    ones, others = len(flagged), len(items) - len(flagged)
    return (total - ones * (ones + 1) / 2) / (ones * others)


@contextmanager
def _coin() -> Iterator[dict[str, str]]:
    """Start a model server that flags half of the scripts at random, and yield a worker's environment."""
    from django.conf import settings

    from pipeline.models import Endpoint, RoleSetting
    from tests.standin_process import StandIn

    simulation = _simulation()
    with tempfile.TemporaryDirectory(prefix="scriptsmith-coin-") as folder:
        file = Path(folder) / "rates.json"
        file.write_text(simulation.model_dump_json(), encoding="utf-8")
        with StandIn("--simulate", str(file), "--latency", str(_LATENCY)) as standin:
            settings.SCRIPTSMITH_DEMO_MODEL_URL = standin.url
            Endpoint.objects.filter(name="demo").update(max_in_flight=2 * _THREADS)
            RoleSetting.objects.filter(configuration__is_default=True).update(
                model=simulation.configurations[0].model
            )
            yield {**os.environ, "SCRIPTSMITH_DEMO_MODEL_URL": standin.url}


def _simulation():  # type: ignore[no-untyped-def]
    from pipeline.error_model.rates import Simulation

    half = "1/2"
    rates = {"generator": half, "recall": half, "false_alarm": half}
    rates |= {"fixes": half, "breaks": half, "fixes_missed": half}
    configuration = {"name": _NAME, "title": "A coin", "rates": rates}
    return Simulation.model_validate({"seed": SEED, "configurations": [configuration]})


def _choose() -> list[int]:
    """Return the numbers of the items to request, half of them flagged and half passed, in random order."""
    from pipeline.error_model.model_behaviour import ModelBehaviour, SeededChance
    from pipeline.types import Verdict

    simulation = _simulation()
    decisions = ModelBehaviour(simulation.configurations[0].rates, SeededChance(simulation.seed))
    chosen: dict[bool, list[int]] = {True: [], False: []}
    # Use numbers of the same length, so that text lengths do not depend on the numbers.
    number = 10_000
    while min(map(len, chosen.values())) < ITEMS // 2:
        verdict = decisions.judge(decisions.write(number))
        side = chosen[verdict is Verdict.INCORRECT]
        if len(side) < ITEMS // 2:
            side.append(number)
        number += 1
    numbers = sorted([*chosen[True], *chosen[False]])
    random.Random(SEED).shuffle(numbers)
    return numbers


def _run_all(environment: dict[str, str]) -> dict[int, str]:
    """Request all items as one user, wait until all runs are in the review queue, and return the verdicts by item."""
    from pipeline import services
    from pipeline.error_model.script_texts import write_statement
    from pipeline.models import Run
    from review.models import Item

    asker = _person("sven")
    with worker(environment, threads=_THREADS):
        for number in _choose():
            services.ask_and_run(write_statement(number), by=asker, severity=3)
        deadline = time.monotonic() + _PATIENCE
        while Run.objects.unfinished().exists() or Item.objects.count() < ITEMS:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{Run.objects.unfinished().count()} runs have not ended")
            time.sleep(0.5)
    verdicts = dict(Item.objects.values_list("pk", "run__verdict"))
    assert set(verdicts.values()) == {"correct", "incorrect"}, set(verdicts.values())
    return verdicts


def _read_without_a_server() -> Readings:
    """Return all readings from this process, which has no collected static files."""
    from django.conf import settings
    from django.test import override_settings

    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        STORAGES={**settings.STORAGES, "staticfiles": plain}, ALLOWED_HOSTS=["*"]
    ):
        return _read_all()


def _read_all() -> Readings:
    """Return all quantities about each item that a reviewer other than the requester can read."""
    from review.models import Item

    client = _client(_person("rita"))
    items = list(Item.objects.select_related("run__action").order_by("pk"))
    readings: Readings = defaultdict(dict)
    _read_lists(client, items, readings)
    _read_one_by_one(client, items, readings)
    return readings


def _read_lists(client: Client, items: Sequence[Item], readings: Readings) -> None:
    """Read all pages of the API's lists, with the content and position of each row."""
    from core.web.public_keys import ITEM, public_key

    for name, keys in (
        ("queue", {public_key(ITEM, item.pk): item for item in items}),
        ("runs", {item.run_id: item for item in items}),
        ("actions", {item.run.action_id: item for item in items if item.run}),
    ):
        rows = list(_pages_of(client, f"/api/v1/{name}/?limit=200"))
        for rank, row in enumerate(rows):
            item = keys[row["id"]]
            readings[f"list of {name}: rank"][item.pk] = rank
            for field, value in flatten(row):
                readings[f"list of {name}: {field}"][item.pk] = value
        asked = {item.pk: place for place, item in enumerate(sorted(items, key=_asked))}
        for rank, row in enumerate(rows):
            pk = keys[row["id"]].pk
            readings[f"list of {name}: rank less that of asking"][pk] = rank - asked[pk]


def _asked(item: Item) -> int:
    return item.run_id or 0


def _pages_of(client: Client, address: str) -> Iterator[dict[str, object]]:
    while address:
        page = client.get(address).json()
        yield from page["results"]
        address = page["next"] or ""


def _read_one_by_one(client: Client, items: Sequence[Item], readings: Readings) -> None:
    """Read the pages and the API of each item, in random order."""
    from django.urls import reverse

    from core.web.public_keys import ITEM, public_key

    order = list(items)
    random.Random(SEED).shuffle(order)
    for item in order[:20]:
        client.get(reverse("item-review", args=[item.pk]))  # warms the caches
    for item in order:
        assert item.run is not None
        run, action, shown = item.run_id, item.run.action_id, public_key(ITEM, item.pk)
        for name, address in (
            ("item's page", f"/items/{shown}/"),
            ("item by API", f"/api/v1/items/{shown}/"),
            ("run's page", f"/runs/{run}/"),
            ("run by API", f"/api/v1/runs/{run}/"),
            ("action's page", f"/actions/{action}/"),
            ("action by API", f"/api/v1/actions/{action}/"),
            ("compare", f"/actions/{action}/compare/"),
            ("search", f"/search/?q=run+{run}"),
        ):
            began = time.perf_counter()
            answer = client.get(address)
            readings[f"{name}: response time"][item.pk] = time.perf_counter() - began
            assert answer.status_code == 200, (address, answer.status_code)
            readings[f"{name}: length"][item.pk] = len(answer.content)
            said = answer.json() if "json" in answer["Content-Type"] else None
            for field, value in flatten(said) if said else take_apart(answer.text):
                readings[f"{name}: {field}"][item.pk] = value


def flatten(value: object, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield the quantities of a JSON document by path: numbers, times, and lengths of strings and lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        yield f"{name} (length)", len(value)
        for place, inner in enumerate(value):
            yield from flatten(inner, f"{name}[{place}]")
    elif isinstance(value, bool | int | float):
        yield name, float(value)
    elif isinstance(value, str):
        moment = _read_moment(value)
        yield (name, moment) if moment is not None else (f"{name} (length)", len(value))


def _read_moment(text: str) -> float | None:
    try:
        return (
            datetime.fromisoformat(text).timestamp()
            if re.match(r"\d{4}-\d\d-\d\dT", text)
            else None
        )
    except ValueError:
        return None


_INPUT = re.compile(r'<input[^>]*\bname="([\w-]+)"[^>]*\bvalue="(\d+)"')
_LINK = re.compile(r'\b(?:href|action|hx-get|hx-post)="/([a-z/-]+?)/(\d+)/')


def take_apart(page: str) -> Iterator[tuple[str, float]]:
    """Yield the quantities of a page: counts of tags, words and numbers, form fields, IDs in URLs, and times."""
    yield "tags", page.count("<")
    yield "words", len(page.split())
    yield "numbers", len(re.findall(r"\d+", page))
    for name, value in _INPUT.findall(page):
        yield f"field {name}", float(value)
    for folder, key in _LINK.findall(page):
        yield f"id in /{folder}/", float(key)
    for place, moment in enumerate(re.findall(r'datetime="([^"]+)"', page)):
        yield f"time {place}", _read_moment(moment) or 0.0


def _person(name: str) -> User:
    from django.contrib.auth.models import Group, User

    user, made = User.objects.get_or_create(username=name)
    if made:
        user.groups.add(Group.objects.get(name="reviewer"))
    return user


def _client(user: User) -> Client:
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client
