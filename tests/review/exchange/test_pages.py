"""Tests for import and export on the page and through the API: preview, start, worker, cancellation, download,
errors."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from core.leased_jobs import Claim, claim
from review.campaigns.services import preset_rules, rules
from review.exchange import jobs
from review.exchange.importing import importer
from review.exchange.transfer_files import kept_files
from review.models import Assignment, Campaign, Item, Score, Transfer
from review.report.services import make_document
from tests import people
from tests.people import make_person
from tests.query_counts import count_queries
from tests.review.maker import ClientFor

client = people.as_manager

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: object, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    return tmp_path / "files" / "transfers"


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return rules.create_campaign("Study", by=manager)


def file_of(*rows: object, name: str = "items.jsonl") -> SimpleUploadedFile:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return SimpleUploadedFile(name, "\n".join(lines).encode())


def upload(client: Client, campaign: Campaign, *rows: object, **typed: object) -> Transfer:
    data = {"kind": "items", "file": file_of(*rows), "mapping": "", "format": "", **typed}
    answer = client.post(f"/campaigns/{campaign.pk}/import/", data)
    assert answer.status_code == 302, answer.text
    transfer = Transfer.objects.latest("pk")
    assert answer.headers["Location"] == f"/transfers/{transfer.pk}/"
    return transfer


GOOD = {"id": "a", "query": "List files", "script": "ls\n"}
BAD = {"id": "b\0", "query": ""}


def names_kept() -> list[str]:
    return kept_files.names_before(timezone.now() + timedelta(days=1))


def test_import_reports_each_line(client: Client, campaign: Campaign) -> None:
    transfer = upload(client, campaign, GOOD, BAD, mapping="statement=query\r\n")
    waiting = client.get(f"/transfers/{transfer.pk}/").text
    assert "Waiting for a worker" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    jobs.carry_out(transfer.pk)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.rows, transfer.kept, transfer.refused) == ("done", 2, 1, 1)
    assert transfer.path == ""
    assert names_kept() == []
    page = client.get(f"/transfers/{transfer.pk}/").text
    assert "no statement found" in page
    assert 'hx-trigger="every 1s' not in page
    report = client.get(f"/transfers/{transfer.pk}/lines/")
    table = b"".join(report.streaming_content).decode()
    assert table.splitlines()[1].startswith("2,b")
    assert campaign.items.get().run.drafts.get().script == "ls\n"
    assert "items.jsonl" in client.get(f"/campaigns/{campaign.pk}/import/").text


def test_scores_are_uploaded_too(client: Client, campaign: Campaign) -> None:
    jobs.carry_out(upload(client, campaign, GOOD, mapping="statement=query").pk)
    table = SimpleUploadedFile("scores.csv", b"id,one,two\na,2,\n")
    transfer = upload(
        client, campaign, kind="scores", file=table, mapping="reviewer:A=one\nreviewer:B=two"
    )
    jobs.carry_out(transfer.pk)
    score = Score.objects.get()
    assert (score.reviewer.username, score.value, score.draft_id is not None) == ("A", 2, True)


def test_invalid_upload_is_refused_at_once(client: Client, campaign: Campaign) -> None:
    wrong: list[tuple[dict[str, object], str]] = [
        ({"file": SimpleUploadedFile("x", b"")}, "The file is empty"),
        ({"file": SimpleUploadedFile("x", b"\x7fELF\0\0\0\1\2")}, "binary"),
        ({"file": SimpleUploadedFile("x.jsonl", b" \n"), "look": "1"}, "The file is empty"),
        ({"mapping": "nothing=x"}, "Unknown column"),
        ({"mapping": "statement"}, "is not of the form"),
        ({"kind": "nothing"}, "Select a valid choice"),
        ({"file": ""}, "This field is required"),
    ]
    for typed, words in wrong:
        data = {"kind": "items", "file": file_of(GOOD), "mapping": "statement=query", **typed}
        answer = client.post(f"/campaigns/{campaign.pk}/import/", data)
        assert answer.status_code == 422, words
        assert words in answer.text.replace("&#x27;", "'")
        assert not Transfer.objects.exists() and names_kept() == [], words


def test_an_export_is_fetched_until_it_expires(client: Client, campaign: Campaign) -> None:
    jobs.carry_out(upload(client, campaign, GOOD, mapping="statement=query").pk)
    answer = client.post(f"/campaigns/{campaign.pk}/export/", {"layout": "jsonl"})
    transfer = Transfer.objects.latest("pk")
    assert answer.headers["Location"] == f"/transfers/{transfer.pk}/"
    jobs.carry_out(transfer.pk)
    address = f"/transfers/{transfer.pk}/file/"
    assert address in client.get(f"/transfers/{transfer.pk}/").text
    fetched = client.get(address)
    assert 'filename="study.jsonl"' in fetched.headers["Content-Disposition"]
    assert len(b"".join(fetched.streaming_content).splitlines()) == 2
    Transfer.objects.filter(pk=transfer.pk).update(expires_at=timezone.now() - timedelta(hours=1))
    assert client.get(address).status_code == 404
    assert "has expired" in client.get(f"/transfers/{transfer.pk}/").text
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
            raise KeyboardInterrupt  # ends a process, because no handler of the product catches it
        real(held, **progress)

    monkeypatch.setattr(Claim, "note", die_in_second_slice)
    with pytest.raises(KeyboardInterrupt):
        jobs.carry_out(transfer.pk)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.kept, campaign.cases.count()) == ("running", 2, 2)
    assert jobs.carry_on() == 0  # the transfer's lease has not expired
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
    assert b"List files" in b"".join(fetched.streaming_content)
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


@pytest.mark.slow
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


ROWS = [
    {
        "nr": "1",
        "question": "List files",
        "answer": "ls\n",
        "script": "rm -r /",
        "judge": "correct",
    },
    {"nr": "2", "question": "Show the load", "answer": "uptime\n", "script": "", "judge": "wrong"},
]
CHOSEN = {"nr": "id", "question": "statement", "answer": "script", "script": "", "judge": "verdict"}


def put_aside(client: Client, campaign: Campaign, *rows: object, **typed: object) -> str:
    """Upload these rows and return the address of the preview."""
    data = {"kind": "items", "file": file_of(*rows), "look": "1", **typed}
    answer = client.post(f"/campaigns/{campaign.pk}/import/", data)
    assert answer.status_code == 302, answer.text
    return str(answer["Location"])


def choose(client: Client, url: str, roles: dict[str, str], do: str, **typed: str) -> HttpResponse:
    columns = client.get(url).context["columns"]
    chosen = {f"role-{place}": roles[one.name] for place, one in enumerate(columns)}
    return client.post(url, {**chosen, **typed, do: "1"})


def test_columns_are_previewed_before_import(client: Client, campaign: Campaign) -> None:
    url = put_aside(client, campaign, *ROWS)
    page = client.get(url)
    assert [one.name for one in page.context["columns"]] == list(CHOSEN)
    assert page.context["columns"][1].samples == ["List files", "Show the load"]
    # The product's own names are accepted unchanged. These words are not verdicts.
    guessed = {one.name: (one.role, one.told_by) for one in page.context["columns"]}
    assert guessed["question"] == ("statement", "name")
    assert (guessed["answer"][0], guessed["script"][0], guessed["judge"][0]) == (
        *("reference", "script", ""),
    )

    page = choose(client, url, CHOSEN, "look")
    look = page.context["look"]
    assert look.heads == ["id", "statement", "script", "verdict"]
    assert look.rows[0].cells == ["1", "List files", "ls\n", "correct"]
    assert "verdict: " in look.rows[1].problem
    assert not (Transfer.objects.exists() or campaign.cases.exists())

    answer = choose(client, url, CHOSEN, "import")
    transfer = Transfer.objects.get()
    assert answer["Location"] == f"/transfers/{transfer.pk}/"
    jobs.carry_out(transfer.pk)
    transfer.refresh_from_db()
    assert (transfer.kept, transfer.refused) == (1, 1)
    item = campaign.items.get()
    assert item.run.drafts.get().script == "ls\n"
    # The stored file is deleted and cannot be imported again.
    assert client.get(url).status_code == 409


def test_known_columns_are_preselected(client: Client, campaign: Campaign) -> None:
    url = put_aside(client, campaign, {"query": "List files", "gold": "ls"}, mapping="id=query")
    roles = {one.name: one.role for one in client.get(url).context["columns"]}
    assert roles == {"query": "id", "gold": "reference"}
    page = choose(client, url, {"query": "statement", "gold": ""}, "look")
    assert page.context["look"].heads == ["statement"]
    assert [one.role for one in page.context["columns"]] == ["statement", ""]


def test_columns_of_several_reviewers_are_named(client: Client, campaign: Campaign) -> None:
    upload(client, campaign, {"id": "a", "statement": "List files", "script": "ls"})
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    url = put_aside(client, campaign, {"id": "a", "one": 2, "two": "", "end": 1}, kind="scores")
    roles = {
        **{"id": "item", "one": "reviewer:script", "two": "reviewer:script"},
        "end": "adjudicated:script",
    }
    page = choose(client, url, roles, "look", **{"person-1": "anna", "person-3": "mona"})
    cells = [row.cells for row in page.context["look"].rows]
    assert cells == [["a", "anna", "script", "2"], ["a", "mona", "script", "1"]]
    choose(client, url, roles, "import", **{"person-1": "anna", "person-3": "mona"})
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    assert [(one.reviewer.username, one.value) for one in Score.objects.all()] == [("anna", 2)]


def test_tie_breakers_are_named_in_file(client: Client, campaign: Campaign) -> None:
    rows = [{"id": "a", "statement": "List files", "script": "ls", "x": 2, "y": 0, "z": 2}]
    url = put_aside(client, campaign, *rows)
    roles = {
        **{"id": "id", "statement": "statement", "script": "script"},
        **{"x": "reviewer:script", "y": "reviewer:script", "z": "called_in:script"},
    }
    choose(client, url, roles, "import")
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    found = Assignment.objects.values_list("reviewer__username", "reason").order_by("pk")
    assert dict(found) == {"x": "imported", "y": "imported", "z": "tie_break"}


@pytest.mark.parametrize("said", [None, 2])
def test_imported_scores_are_complete(client: Client, manager: User, said: int | None) -> None:
    """A campaign created on the page requires two reviewers per item. Imported items only need the reviewers in the
    file."""
    campaign = rules.create_campaign("Two", by=manager, rules=preset_rules("standard"))
    assert campaign.overlap == 2
    more = {"overlap": said} if said else {}
    rows = [
        {"id": f"i{n}", "statement": f"List {n}", "script": f"ls {n}", "judge": 2 * (n % 2), **more}
        for n in range(4)
    ]
    url = put_aside(client, campaign, *rows)
    roles = {name: name for name in ("id", "statement", "script", "overlap")}
    choose(client, url, roles | {"judge": "reviewer:script"}, "import")
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    (arm,) = make_document(campaign)["configurations"]
    share = arm["strict"]["first_pass_accuracy"]
    assert (share["numerator"], share["denominator"]) == ((0, 0) if said else (2, 4))
    assert {one.overlap for one in campaign.items.all()} == {said or 1}


def test_unscored_scripts_want_all_reviewers(client: Client, manager: User) -> None:
    campaign = rules.create_campaign("Two", by=manager, rules=preset_rules("standard"))
    rows = [
        {"id": name, "statement": name, "script": "ls", "judge": score}
        for name, score in (("a", 2), ("b", ""))
    ]
    url = put_aside(client, campaign, *rows)
    roles = {"id": "id", "statement": "statement", "script": "script", "judge": "reviewer:script"}
    choose(client, url, roles, "import")
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    wanted = campaign.items.order_by("case__external_id").values_list("overlap", "state")
    assert list(wanted) == [(1, "closed"), (2, "open")]


def test_repeated_role_is_refused(client: Client, campaign: Campaign) -> None:
    url = put_aside(client, campaign, *ROWS)
    answer = choose(client, url, {**CHOSEN, "nr": "statement"}, "import")
    assert answer.status_code == 422
    assert "map to the same column" in answer.text
    assert answer.context["columns"][0].role == "statement"
    assert not Transfer.objects.exists()


def test_table_and_export_of_ours_are_looked_at_too(client: Client, campaign: Campaign) -> None:
    table = SimpleUploadedFile("rows.csv", b"id,statement,script\r\n7,List files,ls\r\n")
    look = client.get(put_aside(client, campaign, file=table)).context["look"]
    assert look.rows[0].cells == ["7", "List files", "ls"]
    own = {"record": "item", "id": "x", "statement": "List files", "script": "ls"}
    page = client.get(put_aside(client, campaign, {"record": "campaign"}, own))
    assert page.context["look"].is_export
    assert "This file is an export" in page.text


def test_a_file_is_for_who_put_it_aside_and_not_for_ever(
    client: Client, campaign: Campaign, client_for: ClientFor, reviewer: User, folder: Path
) -> None:
    url = put_aside(client, campaign, *ROWS)
    assert client_for(make_person("max", "manager")).get(url).status_code == 409
    assert client_for(reviewer).get(url).status_code == 403
    assert client.get(f"/campaigns/{campaign.pk}/import/nonsense/").status_code == 409
    assert client.get(url).status_code == 200
    (kept,) = folder.iterdir()
    old = (timezone.now() - timedelta(hours=25)).timestamp()
    os.utime(kept, (old, old))
    jobs.carry_on()
    assert client.get(url).status_code == 409
