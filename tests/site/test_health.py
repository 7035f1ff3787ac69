"""Probes: alive, ready, degraded; without sign-in and without secrets."""

from __future__ import annotations

import pytest
from django.db.utils import ConnectionHandler
from django.test import Client
from pytest_django import Settings

from catalog import vectors
from scriptsmith_site.operation import health
from scriptsmith_site.operation.health import (
    Health,
    check_broker,
    check_database,
    check_migrations,
    worst_of,
)


def test_a_living_process_asks_nobody(client: Client) -> None:
    # No `db`: a question to the database would fail this test.
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


def test_everything_is_ready(client: Client, db: None) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "parts": {"database": "ok", "migrations": "ok", "broker": "ok", "embedder": "ok"},
    }


def test_without_a_broker_it_is_degraded_and_still_serves(
    client: Client, db: None, settings: Settings
) -> None:
    settings.CELERY_BROKER_URL = "redis+socket:///nowhere/redis.sock"
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"
    assert answer.json()["parts"]["broker"] == "degraded"


def test_without_an_embedder_it_is_degraded(client: Client, db: None, settings: Settings) -> None:
    settings.SCRIPTSMITH_EMBEDDER = "nowhere.at_all:Embedder"
    health._embed_once.cache_clear()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["parts"]["embedder"] == "degraded"
    settings.SCRIPTSMITH_EMBEDDER = "hashing"
    assert client.get("/readyz").json()["status"] == "ok", "it recovers"
    assert vectors.embedder().name


def test_without_a_database_it_fails(db: None) -> None:
    nowhere = {"ENGINE": "django.db.backends.postgresql", "NAME": "x", "HOST": "/nowhere"}
    database = ConnectionHandler({"default": nowhere})["default"]
    assert check_database(database) is Health.FAILED
    assert check_migrations(database) is Health.FAILED


def test_a_broker_that_refuses_is_degraded() -> None:
    assert check_broker("redis://127.0.0.1:1/0") is Health.DEGRADED


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([], Health.OK, id="nothing"),
        pytest.param([Health.OK, Health.OK], Health.OK, id="all well"),
        pytest.param([Health.OK, Health.DEGRADED], Health.DEGRADED, id="one degraded"),
        pytest.param([Health.FAILED, Health.DEGRADED], Health.FAILED, id="one failed"),
    ],
)
def test_the_whole_is_as_well_as_its_worst_part(parts: list[Health], expected: Health) -> None:
    assert worst_of(parts) is expected


def test_probes_are_only_read(client: Client) -> None:
    assert client.post("/healthz").status_code == 405
