"""Tests that prepared queries return the same rows as Django's own queries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from catalog.models import Entry, Version
from core.database.prepared import PreparedQuery, execute, fetch
from tests.make import make_version

ODD = '100 % of it\'s \\ "quoted"'


def _versions(entry: int, number: int) -> QuerySet[Version]:
    others = Version.objects.filter(entry=OuterRef("entry")).exclude(pk=OuterRef("pk"))
    return (
        Version.objects.filter(entry=entry, number=number)
        .exclude(script=ODD)
        .select_related("entry")
        .annotate(has_others=Exists(others))
    )


find_versions = PreparedQuery(_versions)


def test_each_call_has_values_of_its_own(db: None) -> None:
    one, other = make_version("Delete old files"), make_version("List open files")
    assert find_versions(one.entry_id, 1) == [one]
    assert find_versions(other.entry_id, 1) == [other]
    assert find_versions(one.entry_id, 2) == []


def test_related_rows_and_annotations_come_by_the_same_query(
    db: None, django_assert_num_queries: Callable[[int], object]
) -> None:
    version = make_version("Delete old files")
    find_versions(version.entry_id, 1)
    with django_assert_num_queries(1):
        (found,) = find_versions(version.entry_id, 1)
        assert found.entry.title == "Delete old files"
    assert found.has_others is False
    plain = Version.objects.get(pk=version.pk)
    assert {name: getattr(found, name) for name in _columns()} == {
        name: getattr(plain, name) for name in _columns()
    }


def test_constants_keep_every_character(db: None) -> None:
    version = make_version(script=ODD)
    assert find_versions(version.entry_id, 1) == []
    assert fetch("SELECT %s::text", [ODD]) == [(ODD,)]


def test_a_plan_is_kept_and_used_again(db: None) -> None:
    version = make_version()
    for _time in range(3):
        find_versions(version.entry_id, 1)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
            " WHERE statement LIKE '%%has_others%%'"
        )
        ((kept, anew),) = cursor.fetchall()
    assert kept >= 3 and anew == 0


def test_what_django_sends_itself_is_not_prepared(db: None) -> None:
    for key in range(10):
        Entry.objects.filter(pk=key, title="never prepared").first()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%never prep%%'"
        )
        assert cursor.fetchone() == (0,)


def test_whatever_the_size_of_a_number_its_statement_has_one_plan(db: None) -> None:
    for key in (1, 40_000, 3_000_000_000, 2**63 - 1):
        assert find_versions(key, 1) == []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%has_others%%'"
        )
        assert cursor.fetchone() == (1,)


def test_no_row_has_a_key_that_is_too_large_for_one(db: None) -> None:
    assert find_versions(2**63, 1) == find_versions(1, 10**30) == []


def test_an_argument_may_stand_anywhere_in_the_query_and_more_than_once(db: None) -> None:
    def turned(entry: int, seed: int) -> QuerySet[Version]:
        versions = Version.objects.filter(entry=entry, number__lt=seed)
        return versions.annotate(turned=F("number").bitxor(seed)).order_by("turned")

    version = make_version("Delete old files")
    (found,) = PreparedQuery(turned)(version.entry_id, 6)
    assert found.turned == 1 ^ 6


def test_watched_or_not_a_statement_finds_the_same(db: None) -> None:
    """Tools that count SQL statements must also count prepared statements."""
    sql = "SELECT %(b)s::int - %(a)s::int, %(b)s::int, 7 %% 4, 'a%%(b)s'"
    values = {"a": 2, "b": 5}
    plain = fetch(sql, values)
    with CaptureQueriesContext(connection) as asked:
        watched = fetch(sql, values)
    assert plain == watched == [(3, 5, 3, "a%(b)s")]
    assert len(asked) == 1


def test_a_statement_may_change_rows_and_answer_nothing(db: None) -> None:
    entry = make_version("Delete old files").entry
    execute("UPDATE catalog_entry SET title = %s WHERE id = %s", ["Another title", entry.pk])
    entry.refresh_from_db()
    assert entry.title == "Another title"


def test_what_a_query_leaves_out_is_there_when_it_is_asked_for(
    db: None, django_assert_num_queries: Callable[[int], object]
) -> None:
    def without_script(pk: int) -> QuerySet[Version]:
        return Version.objects.filter(pk=pk).select_related("entry").defer("script", "entry__title")

    version = make_version("Delete old files")
    (found,) = PreparedQuery(without_script)(version.pk)
    assert found.get_deferred_fields() == {"script"}
    assert found.entry.get_deferred_fields() == {"title"}
    with django_assert_num_queries(2):
        assert found.script == version.script
        assert found.entry.title == "Delete old files"
    assert not found._state.adding


def test_a_relation_that_leads_nowhere_is_none(db: None) -> None:
    entry = make_version("Delete old files").entry
    assert entry.suspended_by is None
    find = PreparedQuery(lambda pk: Entry.objects.filter(pk=pk).select_related("suspended_by"))
    (found,) = find(entry.pk)
    assert found.suspended_by is None


def test_what_is_refused_is_told_as_django_tells_it(db: None) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        fetch("INSERT INTO catalog_entry (slug) VALUES (NULL) RETURNING id", [])
    with pytest.raises(TransactionManagementError), transaction.atomic():
        transaction.set_rollback(True)
        fetch("SELECT 1", [])


def test_ended_connection_is_replaced(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = connection.copy()
    monkeypatch.setattr("core.database.prepared.connections", {"default": kept})
    ((before,),) = fetch("SELECT pg_backend_pid()", [])
    # Set the flags that Django sets when a request begins.
    kept.health_check_enabled, kept.health_check_done = True, False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [before])
    assert fetch("SELECT pg_backend_pid() <> %s", [before]) == [(True,)]
    kept.close()


def test_times_are_those_that_django_reads(db: None) -> None:
    sql = "SELECT '2026-02-03 04:05:06.789+01'::timestamptz"
    ((prepared,),) = fetch(sql, [])
    with connection.cursor() as cursor:
        cursor.execute(sql)
        ((plain,),) = cursor.fetchall()
    assert isinstance(prepared, datetime) and isinstance(plain, datetime)
    assert prepared == plain == datetime(2026, 2, 3, 3, 5, 6, 789_000, tzinfo=UTC)
    assert prepared.tzinfo is plain.tzinfo is UTC


def _columns() -> list[str]:
    return [field.attname for field in Version._meta.concrete_fields]
