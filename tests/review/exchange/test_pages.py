"""Files in and out by the pages and the API: begun, carried out by a worker, cancelled, fetched, refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from core.leased_jobs import Claim, claim
from review.campaigns.services import rules
from review.exchange import jobs
from review.exchange.importing import importer
from review.exchange.transfer_files import kept_files
from review.models import Campaign, Item, Score, Transfer
from tests.pipeline.query_counts import count_queries

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_folder(settings: object, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"  # type: ignore[attr-defined]


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return rules.create_campaign("Study", by=manager)


@pytest.fixture
def client(client_for: ClientFor, manager: User) -> Client:
    return client_for(manager)


def file_of(*rows: object, name: str = "items.jsonl") -> SimpleUploadedFile:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return SimpleUploadedFile(name, "\n".join(lines).encode())


def upload(client: Client, campaign: Campaign, *rows: object, **typed: object) -> Transfer:
    data = {"kind": "items", "file": file_of(*rows), "mapping": "", "format": "", **typed}
    answer = client.post(f"/campaigns/{campaign.pk}/import/", data)
    assert answer.status_code == 302, answer.content.decode()
    transfer = Transfer.objects.latest("pk")
    assert answer.headers["Location"] == f"/transfers/{transfer.pk}/"
    return transfer


GOOD = {"id": "a", "query": "List files", "script": "ls\n"}
BAD = {"id": "b\0", "query": ""}


def names_kept() -> list[str]:
    return kept_files.names_before(timezone.now() + timedelta(days=1))


def test_a_file_is_imported_in_the_background_with_a_report_by_line(
    client: Client, campaign: Campaign
) -> None:
    transfer = upload(client, campaign, GOOD, BAD, mapping="statement=query\r\n")
    waiting = client.get(f"/transfers/{transfer.pk}/").content.decode()
    assert "Waiting for a worker" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    jobs.carry_out(transfer.pk)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.rows, transfer.kept, transfer.refused) == ("done", 2, 1, 1)
    assert transfer.path == ""
    assert names_kept() == []
    page = client.get(f"/transfers/{transfer.pk}/").content.decode()
    assert "there is no statement" in page
    assert 'hx-trigger="every 1s' not in page
    report = client.get(f"/transfers/{transfer.pk}/lines/")
    table = b"".join(report.streaming_content).decode()  # type: ignore[attr-defined]
    assert table.splitlines()[1].startswith("2,b")
    assert campaign.items.get().run.drafts.get().script == "ls\n"
    assert "items.jsonl" in client.get(f"/campaigns/{campaign.pk}/import/").content.decode()


def test_scores_are_uploaded_too(client: Client, campaign: Campaign) -> None:
    jobs.carry_out(upload(client, campaign, GOOD, mapping="statement=query").pk)
    table = SimpleUploadedFile("scores.csv", b"id,one,two\na,2,\n")
    transfer = upload(
        client, campaign, kind="scores", file=table, mapping="reviewer:A=one\nreviewer:B=two"
    )
    jobs.carry_out(transfer.pk)
    score = Score.objects.get()
    assert (score.reviewer.username, score.value, score.draft_id is not None) == ("A", 2, True)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        pytest.param({"file": SimpleUploadedFile("x", b"")}, "The file is empty", id="empty"),
        pytest.param(
            {"file": SimpleUploadedFile("x", b"\x7fELF\0\0\0\1\2")}, "binary", id="binary"
        ),
        pytest.param({"mapping": "nothing=x"}, "There is no column", id="unknown column"),
        pytest.param({"mapping": "statement"}, "does not say", id="no pair"),
        pytest.param({"kind": "nothing"}, "Select a valid choice", id="unknown kind"),
        pytest.param({"file": ""}, "This field is required", id="no file"),
    ],
)
def test_what_can_be_told_at_once_is_told_at_once_and_nothing_is_kept(
    client: Client, campaign: Campaign, typed: dict[str, object], words: str
) -> None:
    data = {"kind": "items", "file": file_of(GOOD), "mapping": "statement=query", **typed}
    answer = client.post(f"/campaigns/{campaign.pk}/import/", data)
    assert answer.status_code == 422
    assert words in answer.content.decode().replace("&#x27;", "'")
    assert not Transfer.objects.exists()
    assert names_kept() == []


@pytest.mark.slow
def test_only_managers_get_there(client_for: ClientFor, reviewer: User, campaign: Campaign) -> None:
    transfer = Transfer.objects.create(campaign=campaign, kind="export", state="done")
    theirs = client_for(reviewer)
    for address in (
        f"/campaigns/{campaign.pk}/import/",
        f"/campaigns/{campaign.pk}/export/",
        f"/transfers/{transfer.pk}/",
        f"/transfers/{transfer.pk}/lines/",
        f"/transfers/{transfer.pk}/file/",
        f"/api/v1/transfers/{transfer.pk}/file/",
        "/api/v1/transfers/",
    ):
        assert theirs.get(address).status_code == 403, address
    assert theirs.post(f"/transfers/{transfer.pk}/cancel/").status_code == 403
    export = {"campaign": "Study", "layout": "jsonl"}
    assert theirs.post("/api/v1/transfers/export/", export).status_code == 403


@pytest.mark.slow
def test_an_export_is_fetched_until_it_expires(client: Client, campaign: Campaign) -> None:
    jobs.carry_out(upload(client, campaign, GOOD, mapping="statement=query").pk)
    answer = client.post(f"/campaigns/{campaign.pk}/export/", {"layout": "jsonl"})
    transfer = Transfer.objects.latest("pk")
    assert answer.headers["Location"] == f"/transfers/{transfer.pk}/"
    jobs.carry_out(transfer.pk)
    address = f"/transfers/{transfer.pk}/file/"
    assert address in client.get(f"/transfers/{transfer.pk}/").content.decode()
    fetched = client.get(address)
    assert 'filename="study.jsonl"' in fetched.headers["Content-Disposition"]
    assert len(b"".join(fetched.streaming_content).splitlines()) == 2  # type: ignore[attr-defined]
    Transfer.objects.filter(pk=transfer.pk).update(expires_at=timezone.now() - timedelta(hours=1))
    assert client.get(address).status_code == 404
    assert "has expired" in client.get(f"/transfers/{transfer.pk}/").content.decode()
    jobs.carry_on()
    assert not kept_files.has(transfer.path)
    assert names_kept() == []


def test_a_transfer_is_cancelled_before_it_begins_or_between_slices(
    client: Client, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = upload(client, campaign, GOOD, mapping="statement=query")
    client.post(f"/transfers/{waiting.pk}/cancel/")
    jobs.carry_out(waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.state, Item.objects.count()) == ("cancelled", 0)
    assert client.post(f"/transfers/{waiting.pk}/cancel/").status_code == 409

    running_one = upload(client, campaign, GOOD, mapping="statement=query")
    held = claim(Transfer, running_one.pk)
    assert held is not None
    client.post(f"/transfers/{running_one.pk}/cancel/")
    Transfer.objects.filter(pk=running_one.pk).update(lease_until=None)
    jobs.carry_out(running_one.pk)
    running_one.refresh_from_db()
    assert (running_one.state, Item.objects.count()) == ("cancelled", 0)


def test_a_killed_worker_is_followed_by_another_that_goes_on_where_it_stopped(
    client: Client, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "SLICE", 2)
    rows = [{"id": f"c{number}", "statement": f"Do {number}"} for number in range(5)]
    transfer = upload(client, campaign, *rows, "{broken")
    real, calls = Claim.note, []

    def die_in_second_slice(held: Claim[Transfer], **progress: object) -> None:
        calls.append(progress)
        if len(calls) == 2:
            raise KeyboardInterrupt  # what ends a process; no handler of ours sees it
        real(held, **progress)

    monkeypatch.setattr(Claim, "note", die_in_second_slice)
    with pytest.raises(KeyboardInterrupt):
        jobs.carry_out(transfer.pk)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.kept, campaign.cases.count()) == ("running", 2, 2)
    assert jobs.carry_on() == 0  # its lease still runs
    Transfer.objects.filter(pk=transfer.pk).update(lease_until=timezone.now())
    assert jobs.carry_on() == 1
    jobs.carry_out(transfer.pk)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.rows, transfer.kept, transfer.unchanged) == ("done", 6, 5, 0)
    assert (transfer.lines.count(), campaign.cases.count()) == (1, 5)


def test_programs_import_watch_and_export(client: Client) -> None:
    answer = client.post(
        "/api/v1/transfers/import/",
        {
            "campaign": "New",
            "kind": "items",
            "file": file_of(GOOD, BAD),
            "mapping": '{"statement": "query"}',
        },
    )
    assert answer.status_code == 202, answer.content
    pk = answer.json()["id"]
    jobs.carry_out(pk)
    done = client.get(f"/api/v1/transfers/{pk}/").json()
    assert (done["state"], done["kept"], done["refused"]) == ("done", 1, 1)
    assert client.get(f"/api/v1/transfers/{pk}/lines/").json()[0]["line"] == 2
    export = {"campaign": "New", "layout": "csv"}
    begun = client.post("/api/v1/transfers/export/", export, content_type="application/json")
    jobs.carry_out(begun.json()["id"])
    fetched = client.get(f"/api/v1/transfers/{begun.json()['id']}/file/")
    assert b"List files" in b"".join(fetched.streaming_content)  # type: ignore[attr-defined]
    assert len(client.get("/api/v1/transfers/").json()["results"]) == 2


def test_a_program_that_sends_nonsense_changes_nothing(client: Client) -> None:
    for data in (
        {"campaign": "New", "kind": "items", "file": file_of(GOOD), "mapping": '{"x": "y"}'},
        {"campaign": "New", "kind": "items", "file": file_of(GOOD), "mapping": "[1]"},
        {"campaign": "New", "kind": "scores", "file": file_of(GOOD)},
        {"campaign": "New", "kind": "items"},
    ):
        assert client.post("/api/v1/transfers/import/", data).status_code in (400, 422)
    assert not Campaign.objects.filter(name="New").exists()


def test_the_pages_take_a_fixed_number_of_queries(client: Client, campaign: Campaign) -> None:
    def look(lines: int) -> tuple[int, int]:
        bad = [{"id": str(number)} for number in range(lines)]
        transfer = upload(client, campaign, *bad)
        jobs.carry_out(transfer.pk)
        return (
            count_queries(client, f"/transfers/{transfer.pk}/"),
            count_queries(client, f"/campaigns/{campaign.pk}/import/"),
        )

    assert look(1) == look(30)
