"""A manager looks into a file before it is imported: columns chosen, first rows read, nothing stored until then."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from review.campaigns.services import preset_rules, rules
from review.exchange import jobs
from review.models import Assignment, Campaign, Score, Transfer
from review.report.services import make_document
from tests.people import make_person
from tests.review.exchange.test_pages import file_of

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings: object, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"  # type: ignore[attr-defined]
    return tmp_path / "files" / "transfers"


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return rules.create_campaign("Study", by=manager)


@pytest.fixture
def client(client_for: ClientFor, manager: User) -> Client:
    return client_for(manager)


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
    """Where the look at these rows is."""
    data = {"kind": "items", "file": file_of(*rows), "look": "1", **typed}
    answer = client.post(f"/campaigns/{campaign.pk}/import/", data)
    assert answer.status_code == 302, answer.content.decode()
    return str(answer["Location"])


def choose(client: Client, url: str, roles: dict[str, str], do: str, **typed: str) -> HttpResponse:
    columns = client.get(url).context["columns"]
    chosen = {f"role-{place}": roles[one.name] for place, one in enumerate(columns)}
    return client.post(url, {**chosen, **typed, do: "1"})  # type: ignore[return-value]


@pytest.mark.slow
def test_columns_are_chosen_and_seen_before_anything_is_stored(
    client: Client, campaign: Campaign
) -> None:
    url = put_aside(client, campaign, *ROWS)
    page = client.get(url)
    assert [one.name for one in page.context["columns"]] == list(CHOSEN)
    assert page.context["columns"][1].samples == ["List files", "Show the load"]
    # Guessed from the names: ours are taken at their word, and these words are no verdicts.
    guessed = {one.name: (one.role, one.told_by) for one in page.context["columns"]}
    assert guessed["question"] == ("statement", "name")
    assert (guessed["answer"][0], guessed["script"][0], guessed["judge"][0]) == (
        *("reference", "script", ""),
    )

    page = choose(client, url, CHOSEN, "look")
    look = page.context["look"]  # type: ignore[attr-defined]
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
    assert item.run is not None
    assert item.run.drafts.get().script == "ls\n"
    # It is gone from where it was put aside, and is not imported a second time.
    assert client.get(url).status_code == 409


def test_what_is_known_is_chosen_already_and_can_be_left_out(
    client: Client, campaign: Campaign
) -> None:
    url = put_aside(client, campaign, {"query": "List files", "gold": "ls"}, mapping="id=query")
    roles = {one.name: one.role for one in client.get(url).context["columns"]}
    assert roles == {"query": "id", "gold": "reference"}
    page = choose(client, url, {"query": "statement", "gold": ""}, "look")
    assert page.context["look"].heads == ["statement"]  # type: ignore[attr-defined]
    assert [one.role for one in page.context["columns"]] == ["statement", ""]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_columns_of_several_reviewers_are_named(client: Client, campaign: Campaign) -> None:
    put_aside(client, campaign, {"id": "a", "statement": "List files", "script": "ls"})
    items = client.post(
        f"/campaigns/{campaign.pk}/import/",
        {"kind": "items", "file": file_of({"id": "a", "statement": "List files", "script": "ls"})},
    )
    assert items.status_code == 302
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    url = put_aside(client, campaign, {"id": "a", "one": 2, "two": "", "end": 1}, kind="scores")
    roles = {
        "id": "item",
        "one": "reviewer:script",
        "two": "reviewer:script",
        "end": "adjudicated:script",
    }
    page = choose(client, url, roles, "look", **{"person-1": "anna", "person-3": "mona"})
    cells = [row.cells for row in page.context["look"].rows]  # type: ignore[attr-defined]
    assert cells == [["a", "anna", "script", "2"], ["a", "mona", "script", "1"]]
    choose(client, url, roles, "import", **{"person-1": "anna", "person-3": "mona"})
    jobs.carry_out(Transfer.objects.latest("pk").pk)
    assert [(one.reviewer.username, one.value) for one in Score.objects.all()] == [("anna", 2)]


def test_whoever_was_called_in_by_a_dispute_can_be_said_so(
    client: Client, campaign: Campaign
) -> None:
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
def test_finished_scores_are_all_there_are_unless_the_file_says_otherwise(
    client: Client, manager: User, said: int | None
) -> None:
    """A campaign made on the page wants two reviewers for what is reviewed here; a file has those it has."""
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
    (arm,) = make_document(campaign)["configurations"]  # type: ignore[misc]
    share = arm["strict"]["first_pass_accuracy"]
    assert (share["numerator"], share["denominator"]) == ((0, 0) if said else (2, 4))
    assert {one.overlap for one in campaign.items.all()} == {said or 1}


def test_scripts_without_scores_still_want_as_many_reviewers_as_the_campaign(
    client: Client, manager: User
) -> None:
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


def test_the_same_choice_twice_is_refused_and_stays_as_chosen(
    client: Client, campaign: Campaign
) -> None:
    url = put_aside(client, campaign, *ROWS)
    answer = choose(client, url, {**CHOSEN, "nr": "statement"}, "import")
    assert answer.status_code == 422
    assert "both chosen for the same" in answer.content.decode()
    assert answer.context["columns"][0].role == "statement"  # type: ignore[attr-defined]
    assert not Transfer.objects.exists()


def test_a_table_and_an_export_of_ours_are_looked_at_too(
    client: Client, campaign: Campaign
) -> None:
    table = SimpleUploadedFile("rows.csv", b"id,statement,script\r\n7,List files,ls\r\n")
    look = client.get(put_aside(client, campaign, file=table)).context["look"]
    assert look.rows[0].cells == ["7", "List files", "ls"]
    own = {"record": "item", "id": "x", "statement": "List files", "script": "ls"}
    page = client.get(put_aside(client, campaign, {"record": "campaign"}, own))
    assert page.context["look"].is_export
    assert "This is an export" in page.content.decode()


@pytest.mark.parametrize("content", [b"", b"\xff\xfea\x00", b"\0\1\2\3" * 100])
def test_what_can_not_be_read_is_refused_at_once_and_not_kept(
    client: Client, campaign: Campaign, folder: Path, content: bytes
) -> None:
    file = SimpleUploadedFile("rows.jsonl", content)
    answer = client.post(
        f"/campaigns/{campaign.pk}/import/", {"kind": "items", "file": file, "look": "1"}
    )
    assert answer.status_code == 422
    assert not list(folder.iterdir())


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
