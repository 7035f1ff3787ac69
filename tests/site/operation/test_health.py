"""Tests that the health checks report alive, ready and degraded states, without sign-in and without secrets."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.db.utils import ConnectionHandler
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalog.models import Job, SandboxReport
from catalog.retrieval import vector_store
from pipeline.models import Batch, Run, Worker
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.operation import health, storage, work
from scriptsmith_site.operation.health import (
    Health,
    check_broker,
    check_database,
    check_migrations,
    worst_of,
)
from tests.make import make_run


def test_a_living_process_asks_nobody(client: Client) -> None:
    # The test has no `db` fixture, so a database query would fail it.
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert client.post("/healthz").status_code == 405


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the broker enough time to respond on a busy machine."""
    monkeypatch.setattr(health, "_BROKER_SECONDS", 30.0)


@pytest.fixture
def worker(db: None) -> Worker:
    SandboxReport.objects.create(name="bubblewrap")
    return Worker.objects.create(name="w", host="here", threads=72)


def test_everything_is_ready(client: Client, worker: Worker) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    parts = (
        "database",
        "migrations",
        "disk",
        "worker",
        "oldest_job",
        "broker",
        "embedder",
        "sandbox",
    )
    assert answer.json() == {"status": "ok", "parts": dict.fromkeys(parts, "ok")}


def degraded(client: Client) -> list[str]:
    """Return the degraded parts. The pages must still be served."""
    answer = client.get("/readyz")
    assert answer.status_code == 200
    parts = answer.json()["parts"]
    assert answer.json()["status"] == ("ok" if set(parts.values()) == {"ok"} else "degraded")
    return [name for name, state in parts.items() if state != "ok"]


def test_missing_worker_sandbox_and_disk_space_are_named(
    client: Client,
    worker: Worker,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert degraded(client) == []
    Worker.objects.update(seen_at=timezone.now() - work.LOST_AFTER)
    assert degraded(client) == ["worker"]
    Worker.objects.create(name="another", threads=1)
    assert degraded(client) == [], "one is enough"
    SandboxReport.objects.update(name="", reason="user namespaces are off.")
    assert degraded(client) == ["sandbox"]
    settings.SCRIPTSMITH_EXECUTION = False
    assert degraded(client) == [], "execution is switched off"
    settings.LAYOUT = Layout(tmp_path)
    monkeypatch.setattr(storage, "LEAST_FREE", shutil.disk_usage(tmp_path).total + 1)
    assert degraded(client) == ["disk"]


def test_full_disk_of_either_part_fails_readiness(
    client: Client,
    worker: Worker,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.LAYOUT = Layout(tmp_path)
    monkeypatch.setattr(storage, "FULL", shutil.disk_usage(tmp_path).total + 1)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["disk"]) == (503, "failed")
    monkeypatch.undo()
    with connection.cursor() as cursor:
        # As on a full disk, PostgreSQL rejects temporary files but still answers SELECT 1.
        cursor.execute("SET LOCAL temp_file_limit = 0")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["database"]) == (503, "failed")


def test_what_somebody_has_waited_for_too_long_is_named(client: Client, worker: Worker) -> None:
    long_ago = timezone.now() - work.TOO_OLD - timedelta(seconds=1)
    run = make_run()
    Run.objects.update(state="queued", finished_at=None, created_at=long_ago)
    assert degraded(client) == ["oldest_job"]
    Run.objects.update(batch=Batch.objects.create(name="Study"))
    assert degraded(client) == [], "a campaign's may wait for hours"
    Run.objects.filter(pk=run.pk).update(batch=None, finished_at=timezone.now())
    assert degraded(client) == [], "it goes on for a refinement that was just asked for"
    Run.objects.update(state="done")
    Job.objects.create(kind=Job.Kind.EXPORT, created_at=long_ago)
    assert degraded(client) == ["oldest_job"]


def test_rest_is_reported(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object) -> None:
        raise OperationalError("away")

    for module, name in ((work, "has_living_worker"), (work, "backlog_now"), (health, "_pending")):
        monkeypatch.setattr(module, name, fail)
    monkeypatch.setattr(health, "check_database", lambda _database: Health.FAILED)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["broker"] == "ok"


def test_missing_broker_degrades_health(client: Client, db: None, settings: Settings) -> None:
    settings.CELERY_BROKER_URL = "redis+socket:///nowhere/redis.sock"
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"
    assert answer.json()["parts"]["broker"] == "degraded"
    assert check_broker("redis://127.0.0.1:1/0") is Health.DEGRADED, "nothing listens there"


def test_missing_embedder_degrades(client: Client, worker: Worker, settings: Settings) -> None:
    settings.SCRIPTSMITH_EMBEDDER = "nowhere.at_all:Embedder"
    health._embed_once.cache_clear()
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["parts"]["embedder"] == "degraded"
    settings.SCRIPTSMITH_EMBEDDER = "hashing"
    assert client.get("/readyz").json()["status"] == "ok", "it recovers"
    assert vector_store.embedder().name


def test_health_is_that_of_the_worst_part(db: None) -> None:
    assert worst_of([]) is worst_of([Health.OK, Health.OK]) is Health.OK
    assert worst_of([Health.OK, Health.DEGRADED]) is Health.DEGRADED
    assert worst_of([Health.FAILED, Health.DEGRADED]) is Health.FAILED
    nowhere = {"ENGINE": "django.db.backends.postgresql", "NAME": "x", "HOST": "/nowhere"}
    database = ConnectionHandler({"default": nowhere})["default"]
    assert check_database(database) is Health.FAILED
    assert check_migrations(database) is Health.FAILED
