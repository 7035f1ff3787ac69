"""Tests for previewing, importing, rejecting and downloading files, on the pages and through the API."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from catalog import tasks
from catalog.exchange import services
from catalog.exchange.formats import COLUMNS, Format, read_file
from catalog.exchange.services import import_jobs
from catalog.models import Entry, Job, Version
from tests import people
from tests.catalog.shelf import PLAIN, ClientFor, shelve

client = people.as_curator

pytestmark = pytest.mark.django_db
GOOD = {"slug": "tell-date", "title": "Tell the date", "script": "date\n"}
ADDRESS = "/catalogue/imports/"


@pytest.fixture(autouse=True)
def _own_folder(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"


def file_of(*rows: object, name: str = "rows.jsonl") -> SimpleUploadedFile:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return SimpleUploadedFile(name, "\n".join(lines).encode())


def upload(client: Client, file: SimpleUploadedFile, state: str = "in_review") -> Job:
    answer = client.post(ADDRESS, {"file": file, "state": state})
    assert answer.status_code == 302, answer.text
    job = Job.objects.latest("pk")
    assert answer.headers["Location"] == f"{ADDRESS}{job.pk}/"
    return job


def start(client: Client, preview: Job) -> Job:
    assert client.post(f"{ADDRESS}{preview.pk}/start/").status_code == 302
    return Job.objects.latest("pk")


def test_a_file_is_looked_through_first_and_changes_nothing(client: Client) -> None:
    shelve("Show the uptime")
    job = upload(
        client, file_of(GOOD, "{", {"title": "Uptime", "script": PLAIN}, {**GOOD, "script": "df"})
    )

    page = client.get(f"{ADDRESS}{job.pk}/").text

    assert Entry.objects.count() == 1
    counts = {"read": 4, "entries": 1, "versions": 0, "labels": 0, "phrasings": 1, "unchanged": 0}
    assert job.report["counts"] == {**counts, "refused": 2}
    assert "Nothing has been changed yet" in page
    assert "line 2" in page and "is not valid JSON" in page
    assert "belongs to another script: line 1" in page


def test_what_was_foreseen_is_then_done(client: Client, curator: User, settings: Settings) -> None:
    preview = upload(client, file_of(GOOD, "{"))
    job = start(client, preview)
    page = client.get(f"{ADDRESS}{job.pk}/").text
    assert job.report == preview.report
    version = Version.objects.get()
    assert (version.state, version.author) == ("in_review", curator)
    assert version.provenance == {"origin": "import of rows.jsonl"}
    assert "/catalogue/tell-date/" in page
    assert list((Path(settings.MEDIA_ROOT) / "catalogue").iterdir()) == []
    assert "rows.jsonl" in client.get(ADDRESS).text


def test_who_imported_it_cannot_verify_it(
    client: Client, curator: User, second_curator: User, client_for: ClientFor
) -> None:
    start(client, upload(client, file_of({**GOOD, "state": "verified"})))
    version = Version.objects.get()
    address = f"/catalogue/versions/{version.pk}/verify/"
    assert client.post(address).status_code == 403
    assert client_for(second_curator).post(address).status_code == 302


def test_the_same_file_again_leaves_nothing_to_do(client: Client) -> None:
    first = upload(client, file_of(GOOD))
    start(client, first)
    assert client.post(f"{ADDRESS}{first.pk}/start/").status_code == 409
    job = upload(client, file_of(GOOD))
    assert "There is nothing to import" in client.get(f"{ADDRESS}{job.pk}/").text
    assert client.post(f"{ADDRESS}{job.pk}/start/").status_code == 409


def test_a_large_file_is_left_to_a_worker(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "SMALL_FILE", 10)
    monkeypatch.setattr(import_jobs, "FEW_SCRIPTS", 0)
    preview = upload(client, file_of(GOOD))
    waiting = client.get(f"{ADDRESS}{preview.pk}/").text
    assert "Waiting for a worker" in waiting and 'hx-trigger="every 1s"' in waiting
    tasks.carry_out_job(preview.pk)
    preview.refresh_from_db()
    job = start(client, preview)
    assert job.state == "waiting"
    tasks.carry_out_job(job.pk)

    assert Entry.objects.count() == 1
    assert 'hx-trigger="every 1s' not in client.get(f"{ADDRESS}{job.pk}/").text


def test_waiting_import_is_canceled(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "SMALL_FILE", 10)
    job = upload(client, file_of(GOOD))
    assert client.post(f"{ADDRESS}{job.pk}/cancel/").status_code == 302
    tasks.carry_out_job(job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert client.post(f"{ADDRESS}{job.pk}/cancel/").status_code == 409


def test_file_of_another_kind_and_empty_file_are_refused(client: Client) -> None:
    for name, data, said in (("a.xlsx", b"x", "must end in one of"), ("a.csv", b"", "is empty")):
        answer = client.post(ADDRESS, {"file": SimpleUploadedFile(name, data), "state": "draft"})
        assert answer.status_code == 422
        assert said in answer.text
        assert 'value="draft"' in answer.text.split("checked")[0].rsplit("<input", 1)[1]
    assert not Job.objects.exists()


def test_unreadable_file_is_explained_on_its_page(client: Client) -> None:
    for name, data, said in (
        ("a.csv", b"name,text\n1,2\n", "Missing required column: title"),
        ("a.zip", b"not a zip", "not a .zip archive"),
        ("a.csv", b'title,"script\n1,2\n', "A quote in the header is not closed"),
    ):
        job = upload(client, SimpleUploadedFile(name, data))
        page = client.get(f"{ADDRESS}{job.pk}/").text
        assert "Nothing was imported." in page
        assert said in page


def test_the_report_is_a_table_without_formulas(client: Client) -> None:
    job = upload(client, file_of({**GOOD, "title": "=1+1"}, "{"))
    answer = client.get(f"{ADDRESS}{job.pk}/report/")
    text = b"".join(answer.streaming_content).decode()
    assert "line 2,refused" in text.splitlines()[1]
    assert "'=1+1" in text


def test_the_api_does_the_same(client: Client) -> None:
    api = "/api/v1/catalogue-imports/"
    preview = client.post(api, {"file": file_of(GOOD, "{"), "state": "draft"})
    assert preview.status_code == 202, preview.text
    assert preview.json()["report"]["counts"]["entries"] == 1
    key = preview.json()["id"]
    done = client.post(f"{api}{key}/start/", content_type="application/json")
    assert (done.status_code, done.json()["state"], done.json()["dry_run"]) == (202, "done", False)
    assert Version.objects.get().state == "draft"
    assert client.post(f"{api}{key}/start/", content_type="application/json").status_code == 409
    assert client.post(api, {"file": file_of(GOOD), "state": "verified"}).status_code in (400, 422)


def test_anybody_with_an_account_downloads(as_stranger: Client) -> None:
    shelve("Show the uptime", tags=["a"])
    for layout, address in product(
        Format, ("/catalogue/export/file/", "/api/v1/catalogue-export/")
    ):
        answer = as_stranger.get(address, {"layout": layout.value, "state": ""})

        data = b"".join(answer.streaming_content)
        assert answer.status_code == 200
        assert f".{layout}" in answer["Content-Disposition"]
        rows = list(read_file(io.BytesIO(data), layout))
        assert [row.record for row in rows] == list(services.export_entries())
        assert as_stranger.get(address, {"layout": "xlsx"}).status_code == 422


def test_an_export_of_nothing_is_an_empty_file(client: Client) -> None:
    answer = client.get("/catalogue/export/file/", {"layout": "zip"})
    assert zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))).namelist() == []


@pytest.mark.slow
def test_export_queries_do_not_grow(django_assert_num_queries: Callable[[int], object]) -> None:
    for number in range(6):
        shelve(f"Entry {number}", script=f"echo {number}\n", tags=["a"])
    with django_assert_num_queries(4):  # entries, versions, tags, phrasings
        assert len(list(services.export_entries())) == 6


def test_preview_warns_before_anything_is_written_and_page_lists_columns(client: Client) -> None:
    shelve("Show the uptime")
    rows = [
        {"title": "SHOW the uptime", "script": "echo new"},
        {"title": "Broken", "script": "if true; then\n"},
        {"title": "Dangerous", "script": "rm -rf /var/lib\n"},
        {"title": "broken", "script": "echo other"},
        {"title": "Fine", "script": "date"},
    ]
    page = client.get(f"{ADDRESS}{upload(client, file_of(*rows)).pk}/").text
    assert Entry.objects.count() == 1
    for warning in (
        "already has this title.",
        "Syntax error in line",
        "High risk.",
        "The entry in line 2 has the same title.",
    ):
        assert warning in page
    assert "<dt>With warnings</dt><dd>4</dd>" in page
    assert all(column in client.get(ADDRESS).text for column in COLUMNS)
