"""Queries that are built and planned once find what the plain ones find."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from catalog.models import Entry, Version
from core.database.planned import Planned, Statement, carry_out, fetch, insert, store, storing
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


find_versions = Planned(_versions, values=2)


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
    with django_assert_num_queries(1):  # type: ignore[attr-defined]
        (found,) = find_versions(version.entry_id, 1)
        assert found.entry.title == "Delete old files"
    assert found.has_others is False  # type: ignore[attr-defined]
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


def test_a_row_is_inserted_with_its_key_and_defaults(db: None) -> None:
    entry = Entry(slug="new", title="New")
    insert(entry)
    assert Entry.objects.get(slug="new") == entry
    assert Entry.objects.get(pk=entry.pk).created_at == entry.created_at


def test_only_the_fields_named_are_stored(db: None) -> None:
    entry = make_version("Delete old files").entry
    entry.title, entry.slug = "Another title", "another-slug"
    store(entry, "title")
    entry.refresh_from_db()
    assert (entry.title, entry.slug) == ("Another title", "delete-old-files")


def test_a_field_that_is_none_is_not_stored(db: None) -> None:
    with pytest.raises(AssertionError, match="no_field"):
        store(make_version().entry, "no_field")


def test_several_statements_are_one(
    db: None, reviewer: User, django_assert_num_queries: Callable[[int], object]
) -> None:
    entry = make_version("Delete old files").entry
    entry.title, new = "Another title", Entry(slug="new", title="New")
    name = Statement("UPDATE auth_user SET first_name = %s WHERE id = %s", ["Rita", reviewer.pk])
    with django_assert_num_queries(1):  # type: ignore[attr-defined]
        insert(new, storing(entry, "title"), name)
    assert set(Entry.objects.values_list("title", "pk")) >= {
        ("Another title", entry.pk),
        ("New", new.pk),
    }
    reviewer.refresh_from_db()
    assert reviewer.first_name == "Rita"


def test_of_several_statements_the_last_one_answers(db: None) -> None:
    entry = make_version("Delete old files").entry
    entry.title = "Another title"
    title = Statement("SELECT title FROM catalog_entry WHERE id = %s", [entry.pk])
    assert carry_out(storing(entry, "title"), title) == [("Delete old files",)], "as it was before"
    assert carry_out(title) == [("Another title",)]
    assert carry_out(storing(entry, "title")) == []


def test_either_all_of_several_statements_are_carried_out_or_none(db: None) -> None:
    entry = make_version("Delete old files").entry
    entry.title = "Another title"
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(Entry(slug=entry.slug, title="The same name"), storing(entry, "title"))
    entry.refresh_from_db()
    assert entry.title == "Delete old files"


def test_watched_or_not_a_statement_finds_the_same(db: None) -> None:
    """Whoever counts statements has them sent as Django does, everybody else as PostgreSQL reads them."""
    sql = "SELECT %(b)s::int - %(a)s::int, %(b)s::int, 7 %% 4, 'a%%(b)s'"
    values = {"a": 2, "b": 5}
    plain = fetch(sql, values)
    with CaptureQueriesContext(connection) as asked:
        watched = fetch(sql, values)
    assert plain == watched == [(3, 5, 3, "a%(b)s")]
    assert len(asked) == 1


def test_what_a_query_leaves_out_is_there_when_it_is_asked_for(
    db: None, django_assert_num_queries: Callable[[int], object]
) -> None:
    def without_script(pk: int) -> QuerySet[Version]:
        return Version.objects.filter(pk=pk).select_related("entry").defer("script", "entry__title")

    version = make_version("Delete old files")
    (found,) = Planned(without_script, values=1)(version.pk)
    assert found.get_deferred_fields() == {"script"}
    assert found.entry.get_deferred_fields() == {"title"}
    with django_assert_num_queries(2):  # type: ignore[attr-defined]
        assert found.script == version.script
        assert found.entry.title == "Delete old files"
    assert not found._state.adding


def test_a_relation_that_leads_nowhere_is_none(db: None) -> None:
    entry = make_version("Delete old files").entry
    assert entry.suspended_by is None
    find = Planned(lambda pk: Entry.objects.filter(pk=pk).select_related("suspended_by"), values=1)
    (found,) = find(entry.pk)
    assert found.suspended_by is None


def test_what_is_refused_is_told_as_django_tells_it(db: None) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        fetch("INSERT INTO catalog_entry (slug) VALUES (NULL) RETURNING id", [])
    with pytest.raises(TransactionManagementError), transaction.atomic():
        transaction.set_rollback(True)
        fetch("SELECT 1", [])


def _columns() -> list[str]:
    return [field.attname for field in Version._meta.concrete_fields]
