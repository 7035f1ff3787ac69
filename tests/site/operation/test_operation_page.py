"""Tests for the operation page of administrators."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from catalog import services
from catalog.exchange import offline_copy
from catalog.models import CaseRun, EmbeddingModel, SandboxReport
from pipeline.clients.local_models import LocalModel
from pipeline.models import Endpoint, Run, Worker
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.models import BackupEvent
from scriptsmith_site.web.navigation import COMMANDS
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.retrieval.test_vectors import SMALLER, choose
from tests.catalog.shelf import shelve
from tests.make import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client, administrator: User, settings: Settings, tmp_path: Path) -> Client:
    settings.SCRIPTSMITH_OFFLINE_FOLDER = tmp_path
    client.force_login(administrator)
    return client


def test_it_says_what_answers_and_what_works(admin: Client) -> None:
    shelve("Restart the print spooler", phrasings=["Bounce cups"])

    page = admin.get("/operation/").text

    for text in ("hashing-trigrams-384", "complete for all 2 phrasings", "No copy yet"):
        assert text in page
    assert "every 3s" not in page


def test_the_search_leads_to_its_parts(admin: Client) -> None:
    page = admin.get("/operation/").text

    parts = [one.part for one in COMMANDS if one.address == "operation"]
    assert len(parts) > 1
    assert [part for part in parts if f'id="{part}"' not in page] == []


def test_it_follows_the_change_to_another_embedder(admin: Client, settings: Settings) -> None:
    shelve("Restart the print spooler", phrasings=["Bounce cups"])
    choose(settings, SMALLER)
    services.embed_missing(limit=1)

    page = admin.get("/operation/").text
    assert "1 of 2 phrasings have a vector" in page
    assert "hashing-trigrams-384 stays active until hashing-trigrams-64 has all vectors" in page
    assert "every 3s" in page

    EmbeddingModel.objects.filter(state="building").update(trouble="out of <order>")
    part = admin.get("/operation/", headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<section class="panel" id="vectors"')
    assert "out of &lt;order&gt;" in part

    services.embed_missing()
    part = admin.get("/operation/", headers={"HX-Request": "true"}).text
    assert "every 3s" not in part


def test_page_names_faulty_settings_and_parts(admin: Client, settings: Settings) -> None:
    choose(settings, "nowhere.to:be_found")

    assert "nowhere" in admin.get("/operation/").text
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"

    page = admin.get("/operation/").text

    assert "New runs wait and are not lost" in page


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_it_lists_the_copies(admin: Client, tmp_path: Path) -> None:
    shelve("Restart the print spooler")
    made = offline_copy.write_copy(tmp_path)

    page = admin.get("/operation/").text

    assert made.folder.name in page
    assert str(tmp_path) in page


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow(
    admin: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    shelve("Restart the print spooler")
    admin.get("/operation/")
    with CaptureQueriesContext(connection) as few:
        admin.get("/operation/")
    shelve("Show the uptime", script="date\n", phrasings=["one", "two"])

    with django_assert_num_queries(len(few)):
        admin.get("/operation/")


def test_it_shows_who_works_on_what_and_what_waits(admin: Client) -> None:
    run, waiting = make_run(), make_run()
    alive = Worker.objects.create(name="w1", host="<b>bench-1</b>", threads=72)
    Worker.objects.create(
        name="w2", host="bench-2", threads=72, seen_at=timezone.now() - timedelta(minutes=5)
    )
    Run.objects.filter(pk=run.pk).update(state="running", owner=alive.name, finished_at=None)
    Run.objects.filter(pk=waiting.pk).update(state="queued", finished_at=None)
    Endpoint.objects.filter(name="demo").update(
        blocked_until=timezone.now() + timedelta(minutes=3), blocked_why="Busy <now>"
    )
    page = " ".join(admin.get("/operation/").text.split())
    assert "&lt;b&gt;bench-1&lt;/b&gt;" in page
    assert f'1 of 72 runs: <a href="/runs/{run.pk}/">{run.pk}</a>' in page
    assert page.count(">alive") == 1 and page.count(">lost</span>") == 1
    assert "1 waiting" in page
    assert "Busy &lt;now&gt;" in page
    Worker.objects.all().delete()
    assert "New runs wait for a worker" in admin.get("/operation/").text


def test_page_shows_backup_and_disk(admin: Client, settings: Settings, tmp_path: Path) -> None:
    settings.LAYOUT = Layout(tmp_path)
    page = admin.get("/operation/").text
    assert "manage.py backup FILE --encrypt" in page and "manage.py restore --drill FILE" in page
    BackupEvent.objects.create(kind="backup", file="/srv/old.tar", size=1)
    BackupEvent.objects.create(kind="backup", file="/srv/new.tar", size=2_500_000)
    BackupEvent.objects.create(kind="drill", file="/srv/new.tar", size=2_500_000, passed=False)
    page = admin.get("/operation/").text
    assert "2.4" in page and "/srv/new.tar" in page and "/srv/old.tar" not in page
    assert "not encrypted (contains the secret key)" in page
    assert ">failed</span>" in page
    assert str(tmp_path) in page


def test_it_knows_the_last_word_of_the_sandbox_and_what_waits_for_it(admin: Client) -> None:
    assert "no report yet" in admin.get("/operation/").text
    report = SandboxReport.objects.create(
        reason="User namespaces are off.", remedy="Switch them on."
    )
    said = admin.get("/operation/").text
    assert "User namespaces are off. Switch them on. Sandbox tests are not run." in said
    SandboxReport.objects.filter(pk=report.pk).update(name="bubblewrap", reason="", remedy="")
    case_set = services.keep_case_set(make_set(case_data()), by=None)
    services.request_run("true\n", case_set, purpose=CaseRun.Purpose.ASKED)
    said = admin.get("/operation/").text
    assert "bubblewrap" in said and "1 waiting" in said.partition("Sandbox tests")[2]
    SandboxReport.objects.filter(pk=report.pk).update(last_at=timezone.now() - timedelta(hours=3))
    assert "has not done so recently" in admin.get("/operation/").text


class Metrics(BaseHTTPRequestHandler):
    """A server that requires the key and returns llama.cpp's metrics after text generation."""

    def do_GET(self) -> None:
        is_allowed = self.headers["authorization"] == "Bearer secret"
        self.send_response(200 if is_allowed and self.path == "/metrics" else 401)
        self.end_headers()
        self.wfile.write(b"# TYPE gauge\nllamacpp:predicted_tokens_seconds 9.76\n" * is_allowed)


def test_local_models_have_state_memory_and_speed(
    admin: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.LAYOUT = Layout(tmp_path)
    folder = settings.LAYOUT.local_models
    folder.mkdir()
    with HTTPServer(("127.0.0.1", 0), Metrics) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        LocalModel("fast", os.getpid(), server.server_port, "secret").announce(folder)
        LocalModel("new", os.getpid()).announce(folder)
        LocalModel("broken", 2**22 + 1, problem="broken.gguf is not a GGUF file.").announce(folder)
        assert "Local models" not in admin.get("/operation/").text, "the endpoint is off"
        settings.SCRIPTSMITH_ENDPOINTS = ["demo", "local"]
        page = admin.get("/operation/").text
        server.shutdown()
    rows = dict(re.findall(r"<code>(fast|new|broken)</code>(.*?)</dd>", page, re.S))
    assert "ready" in rows["fast"] and "MB" in rows["fast"] and "9.8" in rows["fast"]
    assert "loading" in rows["new"] and "MB" in rows["new"] and "9.8" not in rows["new"]
    assert "unavailable" in rows["broken"] and "is not a GGUF file" in rows["broken"]
    assert "secret" not in page
