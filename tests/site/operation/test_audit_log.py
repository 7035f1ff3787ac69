"""Tests that the audit log is append-only, filtered, paginated, and exported without spreadsheet formulas."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import InternalError, connection, transaction
from django.db.utils import ProgrammingError
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from core.audit import record
from review.campaigns.services import rules
from review.exchange.importing.items import import_items
from review.exchange.source import Source
from scriptsmith_site.models import Profile
from scriptsmith_site.operation.audit import COLUMNS
from tests import people
from tests.make import make_action
from tests.site.browsing import ClientFor

admin = people.as_administrator


@pytest.fixture
def records(reviewer: User, curator: User) -> None:
    record(reviewer, "roles changed", by=curator, roles=("reviewer", "curator"))
    record(curator, "deactivated", by=reviewer, is_active=(True, False))
    record(reviewer, "name changed", by=reviewer, first_name=("", '=HYPERLINK("http://x")'))


def test_database_refuses_changes(records: None) -> None:
    for statement in (
        "UPDATE auditlog_logentry SET object_repr = 'x'",
        "DELETE FROM auditlog_logentry",
    ):
        with (
            pytest.raises((InternalError, ProgrammingError), match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
    assert LogEntry.objects.count() == 3


def test_an_erasure_may_change_it_within_its_transaction(records: None) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL scriptsmith.erasing = 'on'")
        LogEntry.objects.update(object_repr="erased")
    assert LogEntry.objects.filter(object_repr="erased").count() == 3


def test_it_shows_who_changed_what_from_what_to_what(admin: Client, records: None) -> None:
    text = " ".join(admin.get("/audit/").text.split())
    assert "roles changed" in text
    assert "<del>reviewer</del> → <ins>curator</ins>" in text
    assert "=HYPERLINK(&quot;http://x&quot;)" in text


def test_log_is_filtered(admin: Client, records: None, reviewer: User) -> None:
    user = ContentType.objects.get_for_model(User).pk
    every = ["name changed", "deactivated", "roles changed"]
    expected = {
        "person=rita": ["name changed", "deactivated"],
        "person=nobody": [],
        "event=deactivated": ["deactivated"],
        f"kind={user}": every,
        f"kind={ContentType.objects.get_for_model(Profile).pk}": [],
        f"kind={user}&number={reviewer.pk}": ["name changed", "roles changed"],
        "day=2001-02-03": [],
        f"day={datetime.now(UTC).date()}": every,
    }
    for query, events in expected.items():
        rows = changes_of(admin.get(f"/audit/export/?{query}"))
        assert [row["event"] for row in rows] == events, query
        page = admin.get(f"/audit/?{query}")
        assert page.status_code == 200
        assert ("No matches" in page.text) is (not events), query


def test_a_day_is_the_reader_s_day(admin: Client, administrator: User, reviewer: User) -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)  # March 2 in Tokyo
    LogEntry.objects.log_create(reviewer, force_log=True, action=1, timestamp=late)
    Profile.objects.create(user=administrator, time_zone="Asia/Tokyo")
    assert len(changes_of(admin.get("/audit/export/?day=2026-03-02"))) == 1
    assert not read_csv(admin.get("/audit/export/?day=2026-03-01"))


def test_unreadable_filter_is_refused_at_its_field(admin: Client, records: None) -> None:
    for query in ("day=yesterday", "kind=0", "number=-1", "number=x"):
        for page in ("/audit/", "/audit/export/"):
            answer = admin.get(f"{page}?{query}")
            assert answer.status_code == 422, query
            assert "field-error" in answer.text, query
    assert admin.get("/audit/?before=x").status_code == 422


def test_it_is_paged_in_a_fixed_number_of_queries(
    admin: Client, reviewer: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(120):
        record(reviewer, f"event {number}", by=reviewer)
    admin.get("/audit/")
    with django_assert_num_queries(6):
        first = admin.get("/audit/")
    page = first.context["page"]
    assert len(page.rows) == 50
    last = admin.get("/audit/" + admin.get("/audit/" + page.older).context["page"].older)
    assert [entry.additional_data["event"] for entry in last.context["page"].rows][-1] == "event 0"
    assert not last.context["page"].older


def test_empty_log_says_what_will_be_there(admin: Client) -> None:
    assert "No entries yet" in admin.get("/audit/").content.decode()


def test_export_is_complete_without_formula(admin: Client, records: None, curator: User) -> None:
    rows = changes_of(admin.get("/audit/export/"))
    assert [row["event"] for row in rows] == ["name changed", "deactivated", "roles changed"]
    assert rows[2]["person"] == "carla"
    assert rows[2]["changes"] == "roles: reviewer → curator"
    assert set(rows[0]) == set(COLUMNS)


def changes_of(answer: object) -> list[dict[str, str]]:
    """Return the rows except those of the security log, which include the reader's sign-in."""
    return [row for row in read_csv(answer) if row["kind"] != "security"]


def read_csv(answer: object) -> list[dict[str, str]]:
    text = b"".join(answer.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_a_change_may_have_any_name(admin: Client, reviewer: User) -> None:
    """In a template, `changes.items` is the change of the field "items", not the dictionary's method."""
    for name in ("items", "keys", "values", "get"):
        record(reviewer, "something counted", by=reviewer, **{name: ("", 30)})
    answer = admin.get("/audit/")
    text = " ".join(answer.content.decode().split())
    assert answer.status_code == 200
    for name in ("items", "keys", "values", "get"):
        assert f'<span class="muted">{name}</span> <ins>30</ins>' in text


def test_the_log_is_a_page_after_an_import(
    client_for: ClientFor, manager: User, administrator: User, tmp_path: Path
) -> None:
    file = tmp_path / "items.jsonl"
    file.write_text('{"id": "one", "statement": "List the sockets", "script": "ss -l"}\n')
    assert import_items(Source(file), "Shell", by=manager).kept == 1
    for person in (manager, administrator):
        answer = client_for(person).get("/audit/")
        assert answer.status_code == 200
        assert "items imported" in answer.content.decode()


@pytest.fixture
def all_records(manager: User, reviewer: User, administrator: User) -> None:
    record(reviewer, "roles changed", by=administrator, roles=("reviewer", "curator"))
    record(reviewer, "anonymised", by=administrator)
    record(make_action("Show the uptime"), "texts erased", by=administrator)
    record(rules.create_campaign("Pilot", by=manager), "made by hand", by=manager)


def test_manager_reads_only_what_was_done_to_campaigns(
    all_records: None, manager: User, reviewer: User, client_for: ClientFor, as_manager: Client
) -> None:
    page = client_for(manager).get("/audit/")
    assert page.status_code == 200
    assert "made by hand" in page.text and "Pilot" in page.text
    for hidden in ("roles changed", "anonymised", "texts erased"):
        assert hidden not in page.text
    assert "/audit/export/" not in page.text and "/users/" not in page.text
    for event in ("roles changed", "anonymised", "texts erased"):
        page = as_manager.get("/audit/", {"event": event})
        assert page.status_code == 200
        assert "No matches" in page.text, event


def test_administrator_reads_and_exports_all(all_records: None, as_administrator: Client) -> None:
    page = as_administrator.get("/audit/").text
    for event in ("roles changed", "anonymised", "texts erased", "made by hand"):
        assert event in page
    assert "/audit/export/" in page and "/users/" in page
    assert as_administrator.get("/audit/export/").status_code == 200
