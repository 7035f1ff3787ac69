"""Tests that a phrasing matches only as a starting point until a second user confirms it."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.db import IntegrityError
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from catalog.curation import services as curation
from catalog.entries import services
from catalog.exchange import services as exchange
from catalog.exchange.formats import read_rows
from catalog.models import Entry, Phrasing, Version
from catalog.retrieval import services as retrieval
from catalog.types import Match
from core.errors import NotAllowedNow
from tests.catalog.shelf import PLAIN, ClientFor, shelve

pytestmark = pytest.mark.django_db

HARMLESS = "Show the free memory in megabytes"
WAITS = "this phrasing waits for a second reviewer"
RESTART = "#!/usr/bin/env bash\nset -euo pipefail\nsystemctl restart nginx\n"


@pytest.fixture
def restart() -> Version:
    """Return a verified entry whose script changes the system."""
    return shelve("Restart the web server nginx", script=RESTART)


def asked(statement: str) -> Match | None:
    """Embed all phrasings, and return the catalogue's best match for the statement."""
    retrieval.embed_missing()
    found = retrieval.retrieve(statement)
    return found.matches[0] if found.matches else None


def add(version: Version, text: str, by: User) -> Phrasing:
    return services.add_phrasing(version.entry, text=text, by=by)


def test_a_wording_of_one_curator_is_no_answer_until_another_one_confirms_it(
    restart: Version, curator: User, second_curator: User
) -> None:
    phrasing = add(restart, HARMLESS, curator)
    found = asked(HARMLESS)
    assert found is not None and found.answer == "adapt" and WAITS in found.differs
    assert found.confidence < 0.9
    with pytest.raises(PermissionDenied, match="four-eyes approval"):
        services.confirm_phrasing(phrasing, by=curator)
    services.confirm_phrasing(phrasing, by=second_curator)
    found = asked(HARMLESS)
    assert found is not None and found.answer == "match" and WAITS not in found.differs
    with pytest.raises(NotAllowedNow):
        services.confirm_phrasing(phrasing, by=second_curator)
    event = LogEntry.objects.filter(additional_data__event="phrasing confirmed").get()
    assert event.actor == second_curator


@pytest.mark.django_db(transaction=True)
def test_it_is_confirmed_in_a_transaction_of_its_own(curator: User, second_curator: User) -> None:
    """Other tests run inside a transaction, so they would not notice if the service opened no transaction."""
    phrasing = add(shelve("Restart the web server nginx", script=RESTART), HARMLESS, curator)
    services.confirm_phrasing(phrasing, by=second_curator)
    phrasing.refresh_from_db()
    assert phrasing.confirmed_by == second_curator


def test_what_waits_takes_nothing_from_what_is_confirmed(restart: Version, curator: User) -> None:
    before = asked("Restart the web server nginx")
    add(restart, "Restart the web server nginx.", curator)
    add(restart, HARMLESS, curator)
    after = asked("Restart the web server nginx")
    assert before is not None and after is not None
    assert (after.answer, after.confidence) == ("match", before.confidence)


def test_a_rename_is_a_wording(restart: Version, curator: User, second_curator: User) -> None:
    services.rename(restart.entry, title=HARMLESS, by=curator)
    found = asked(HARMLESS)
    assert found is not None and found.answer == "adapt" and WAITS in found.differs
    title = restart.entry.phrasings.get(source="title")
    services.confirm_phrasing(title, by=second_curator)
    assert (found := asked(HARMLESS)) is not None and found.answer == "match"


def test_one_reviewer_alone_does_not_word_what_somebody_elses_entry_answers(
    restart: Version, reviewer: User, second_reviewer: User, curator: User
) -> None:
    """A reviewer who edited the script or wrote the request cannot add a confirmed phrasing alone."""
    by_edit = {"author": reviewer, "by": reviewer, "asked_by": second_reviewer}
    by_asker = {"author": None, "by": reviewer, "asked_by": reviewer}
    for number, who in enumerate((by_edit, by_asker)):
        statement = f"{HARMLESS}, please" if number else HARMLESS
        twin = services.publish(
            statement=statement, script=RESTART, verified=True, provenance={}, **who
        )
        assert twin == restart
        found = asked(statement)
        assert found is not None and found.answer == "adapt" and WAITS in found.differs
    services.publish(
        statement=HARMLESS,
        script=RESTART,
        verified=True,
        provenance={},
        author=None,
        by=second_reviewer,
        asked_by=curator,
    )
    assert (found := asked(HARMLESS)) is not None and found.answer == "match", "a second person"


@pytest.mark.parametrize(
    ("is_own", "alone", "answer"),
    [(False, False, "match"), (True, False, "adapt"), (True, True, "match")],
)
def test_who_approves_a_models_script_confirms_the_words_of_who_asked(
    reviewer: User,
    second_reviewer: User,
    settings: Settings,
    is_own: bool,
    alone: bool,
    answer: str,
) -> None:
    settings.SCRIPTSMITH_SELF_VERIFY = alone
    version = services.publish(
        statement="Print the uptime",
        script=PLAIN,
        author=None,
        asked_by=reviewer if is_own else second_reviewer,
        by=reviewer,
        verified=True,
        provenance={},
    )
    assert version.state == "verified"
    phrasing = version.entry.phrasings.get()
    assert phrasing.self_confirmed is (is_own and alone)
    assert (found := asked("Print the uptime")) is not None and found.answer == answer


def test_verifying_confirms_the_wordings_that_the_page_has_shown_and_no_later_one(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    version = services.create_entry(
        "Print the uptime", script=PLAIN, by=curator, phrasings=["How long is it up?"]
    )
    services.submit_for_review(version, by=curator)
    client = client_for(second_curator)
    page = client.get(reverse("version-review", args=[version.pk])).text
    said = page.split("Verifying also confirms")[1].split("</ul>")[0]
    assert "Print the uptime" in said and "How long is it up?" in said
    shown = page.split('name="wordings" value="')[1].split('"')[0]
    add(version, "Added since", curator)
    answer = client.post(
        reverse("version-verify", args=[version.pk]), {"note": "", "wordings": shown}
    )
    assert answer.status_code == 302
    waiting = Phrasing.objects.filter(confirmed_at=None)
    assert [phrasing.text for phrasing in waiting] == ["Added since"]
    assert (found := asked("Print the uptime")) is not None and found.answer == "match"


def test_by_the_api_only_wordings_that_are_named_are_confirmed_with_a_version(
    curator: User, second_curator: User, client_for: ClientFor
) -> None:
    version = services.create_entry(
        "Print the uptime", script=PLAIN, by=curator, phrasings=["How long is it up?"]
    )
    client = client_for(second_curator)
    entry = client.get(f"/api/v1/entries/{version.entry.slug}/").json()
    first = entry["wordings"][0]
    assert (first["added_by"], first["confirmed_at"]) == (curator.username, None)
    client.post(
        f"/api/v1/versions/{version.pk}/verify/",
        {"wordings": [first["id"]]},
        content_type="application/json",
    )
    assert [one.text for one in Phrasing.objects.filter(confirmed_at=None)] == [
        "How long is it up?"
    ]


@pytest.fixture(params=["page", "api"])
def confirm(
    request: pytest.FixtureRequest, client_for: ClientFor
) -> Callable[[User, Phrasing], int]:
    def send(user: User, phrasing: Phrasing) -> int:
        client = client_for(user)
        if request.param == "page":
            status = client.post(reverse("phrasing-confirm", args=[phrasing.pk])).status_code
            return 200 if status == 302 else status
        url = f"/api/v1/entries/{phrasing.entry.slug}/phrasings/confirm/"
        said = {"text": phrasing.text}
        return client.post(url, said, content_type="application/json").status_code

    return send


def test_who_may_confirm(
    restart: Version,
    curator: User,
    second_curator: User,
    reviewer: User,
    confirm: Callable[[User, Phrasing], int],
) -> None:
    phrasing = add(restart, HARMLESS, curator)
    assert confirm(reviewer, phrasing) == 403
    assert confirm(curator, phrasing) == 403
    phrasing.refresh_from_db()
    assert phrasing.waits
    assert confirm(second_curator, phrasing) == 200
    phrasing.refresh_from_db()
    assert phrasing.confirmed_by == second_curator


@pytest.mark.slow
def test_curators_see_what_waits_for_them(
    restart: Version, curator: User, second_curator: User, client_for: ClientFor, settings: Settings
) -> None:
    add(restart, HARMLESS, curator)
    entry = reverse("entry-detail", args=[restart.entry.slug])
    addresses = [reverse("wording-list"), reverse("home")]
    for address in addresses:
        assert HARMLESS in client_for(second_curator).get(address).text
        assert HARMLESS not in client_for(curator).get(address).text
    button = reverse("phrasing-confirm", args=[restart.entry.phrasings.latest("pk").pk])
    assert button in client_for(second_curator).get(entry).text
    own = client_for(curator).get(entry).text
    assert button not in own and "waiting for a second reviewer" in own
    settings.SCRIPTSMITH_SELF_VERIFY = True
    assert button in client_for(curator).get(entry).text


def test_the_reason_is_in_the_answer_of_the_command_and_of_the_api(
    restart: Version, curator: User, client_for: ClientFor
) -> None:
    add(restart, HARMLESS, curator)
    retrieval.embed_missing()
    told = StringIO()
    call_command("retrieve", HARMLESS, "--json", stdout=told)
    document = json.loads(told.getvalue())
    assert document["answer"] == "adapt" and WAITS in document["matches"][0]["differs"]
    by_api = client_for(curator).post(
        "/api/v1/retrieve/", {"statement": HARMLESS}, content_type="application/json"
    )
    assert WAITS in by_api.json()["matches"][0]["differs"]


def test_files_carry_that_a_wording_waits_and_an_import_as_verified_confirms_the_others(
    restart: Version, curator: User, second_curator: User, tmp_path: Path
) -> None:
    add(restart, HARMLESS, curator)
    services.rename(restart.entry, title="Restart nginx", by=curator)
    path = tmp_path / "catalogue.jsonl"
    call_command("export_catalogue", str(path))
    record = json.loads(path.read_text())
    assert record["title_confirmed"] is False
    assert {"text": HARMLESS, "source": "curator", "confirmed": False} in record["phrasings"]
    Version.objects.all().delete()
    Entry.objects.all().delete()
    exchange.import_rows(
        read_rows(path), name="catalogue", state=Version.State.VERIFIED, by=second_curator
    )
    waiting = Phrasing.objects.filter(confirmed_at=None)
    assert {one.text for one in waiting} == {HARMLESS, "Restart nginx"}

    other = {"title": "Print the uptime", "script": PLAIN, "phrasings": ["How long is it up?"]}
    path.write_text(json.dumps(other))
    exchange.import_rows(read_rows(path), name="x", state=Version.State.VERIFIED, by=second_curator)
    assert set(
        Phrasing.objects.filter(entry__slug="print-the-uptime").values_list(
            "confirmed_by", "added_by"
        )
    ) == {(second_curator.pk, None)}


def test_an_import_as_a_draft_confirms_nothing(curator: User, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"title": "Print the uptime", "script": PLAIN}))
    exchange.import_rows(read_rows(path), name="x", state=Version.State.DRAFT, by=curator)
    phrasing = Phrasing.objects.get()
    assert phrasing.waits and phrasing.added_by == curator


def test_a_merge_into_another_script_asks_for_a_second_person_and_undone_gives_it_back(
    restart: Version, curator: User, second_curator: User
) -> None:
    harmless = shelve(HARMLESS, script="free -m\n", verified_by=second_curator)
    confirmed = list(harmless.entry.phrasings.values_list("pk", "confirmed_at", "confirmed_by"))
    merge = curation.merge_entries(harmless.entry, target=restart.entry, by=curator)
    found = asked(HARMLESS)
    assert found is not None and found.script == RESTART
    assert found.answer == "adapt" and WAITS in found.differs
    curation.undo_merge(merge, by=curator)
    again = harmless.entry.phrasings.values_list("pk", "confirmed_at", "confirmed_by")
    assert list(again) == confirmed
    found = asked(HARMLESS)
    assert found is not None and (found.answer, found.script) == ("match", "free -m\n")


def test_the_database_lets_nobody_confirm_their_own(restart: Version, curator: User) -> None:
    phrasing = add(restart, HARMLESS, curator)
    with pytest.raises(IntegrityError, match="phrasing_four_eyes"):
        Phrasing.objects.filter(pk=phrasing.pk).update(
            confirmed_by=curator, confirmed_at=timezone.now()
        )
