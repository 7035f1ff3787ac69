"""Files in the admin, through django-import-export: looked through, imported, exported, refused."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from catalog.curation.admin import files
from catalog.exchange import services as exchange
from catalog.exchange.formats import Format, file_parts, read_file
from catalog.models import Entry, Version
from tests.catalog.shelf import PLAIN, shelve

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db
IMPORT, PROCESS = "/admin/catalog/entry/import/", "/admin/catalog/entry/process_import/"
FORMATS = {Format.JSONL: "0", Format.CSV: "1", Format.ZIP: "2"}
GOOD = {"slug": "tell-date", "title": "Tell the date", "script": "date\n"}


@pytest.fixture(autouse=True)
def _own_folder(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"


@pytest.fixture
def client(client_for: ClientFor, curator: User) -> Client:
    return client_for(curator)


def upload(client: Client, data: bytes, format: Format = Format.JSONL, name: str = "rows") -> str:
    file = SimpleUploadedFile(f"{name}.{format}", data)
    form = {"import_file": file, "format": FORMATS[format], "resource": "0"}
    answer = client.post(IMPORT, form)
    assert answer.status_code == 200
    return answer.text


def lines(*rows: object) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def confirm(client: Client, page: str) -> str:
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    return client.post(PROCESS, hidden, follow=True).text


def test_a_file_is_looked_through_and_then_imported_by_the_service(
    client: Client, curator: User
) -> None:
    shelve("Show the uptime")
    page = upload(client, lines(GOOD, "{", {"title": "Uptime?", "script": PLAIN}))

    assert "Nothing has been changed yet" in page
    assert "is no JSON" in page
    assert Entry.objects.count() == 1
    done = confirm(client, page)

    assert "1 new entries" in done and "1 with new phrasings" in done and "1 refused" in done
    version = Version.objects.get(entry__slug="tell-date")
    assert (version.state, version.author) == ("in_review", curator)
    assert version.provenance == {"origin": "import of rows.jsonl"}
    assert LogEntry.objects.filter(additional_data__event="imported", actor=curator).count() == 1
    assert not list((Path(files.files_folder())).iterdir())


@pytest.mark.parametrize("format", list(Format))
def test_an_export_is_imported_again_as_the_same(client: Client, format: Format) -> None:
    shelve("Show the uptime", tags=["a"], undo="=none")
    answer = client.post(
        "/admin/catalog/entry/export/", {"format": FORMATS[format], "resource": "0"}
    )

    rows = list(read_file(io.BytesIO(answer.content), format))
    assert [row.record for row in rows] == list(exchange.export_entries())
    assert answer.content == b"".join(file_parts(exchange.export_entries(), format))
    assert ">unchanged<" in upload(client, answer.content, format)


def test_what_is_exported_is_the_list_as_it_is_filtered(client: Client) -> None:
    shelve("Show the uptime")
    shelve("Tell the date", script="date\n", state="draft")

    answer = client.post(
        "/admin/catalog/entry/export/?state=draft", {"format": "0", "resource": "0"}
    )

    assert [json.loads(line)["slug"] for line in answer.content.splitlines()] == ["tell-the-date"]


@pytest.mark.parametrize(
    ("format", "data", "said"),
    [
        pytest.param(Format.CSV, b"name,text\na,b\n", "no column title", id="columns"),
        pytest.param(Format.ZIP, b"no zip", "no .zip archive", id="archive"),
        pytest.param(Format.JSONL, "a".encode("utf-16"), "UTF-16", id="encoding"),
        pytest.param(Format.JSONL, b"\n", "No valid data", id="nothing"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_to_be_so(
    client: Client, format: Format, data: bytes, said: str
) -> None:
    assert said in upload(client, data, format)
    assert not Entry.objects.exists()


def test_what_is_too_much_for_one_page_is_sent_to_the_other(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_ROWS", 1)
    page = upload(client, lines(GOOD, GOOD))
    assert "The file has 2 rows" in page and 'name="confirm"' not in page
    assert "/catalogue/imports/" in page
    monkeypatch.setattr(files, "MOST_BYTES", 10)

    assert "has more than 1 MB" in upload(client, lines(GOOD))


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "a" * 32])
def test_only_a_file_that_was_looked_through_is_imported(client: Client, name: str) -> None:
    form = {"import_file_name": name, "original_file_name": "x", "format": "0", "resource": "0"}

    answer = client.post(PROCESS, form)

    assert answer.status_code == 200
    assert "hoose the file again" in answer.text
    assert not Entry.objects.exists()


def test_only_curators_import(client_for: ClientFor, administrator: User, reviewer: User) -> None:
    for person in (administrator, reviewer):
        assert client_for(person).get(IMPORT, follow=True).status_code == 403
        assert client_for(person).post(PROCESS, {}, follow=True).status_code == 403
    export = "/admin/catalog/entry/export/"
    assert client_for(reviewer).get(export, follow=True).status_code == 403
