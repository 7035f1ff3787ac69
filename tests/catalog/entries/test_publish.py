"""Tests for adding approved scripts to the catalogue."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from catalog.entries import services
from catalog.models import Entry, Phrasing, Version
from catalog.retrieval import services as retrieval
from core.errors import BadInput
from tests.catalog.entries.test_two_curators import at_once
from tests.catalog.shelf import PLAIN, shelve

pytestmark = pytest.mark.django_db

STATEMENT = "Show how long the machine has been up"


def publish(by: User, **changes: object) -> Version:
    details: dict[str, object] = {
        "statement": STATEMENT,
        "script": PLAIN,
        "by": by,
        "author": None,
        "verified": True,
        "provenance": {"run": 7, "models": {"generator": "demo-smith"}},
    }
    return services.publish(**{**details, **changes})  # type: ignore[arg-type]


def test_an_unedited_model_script_is_verified_at_once_and_answers(reviewer: User) -> None:
    version = publish(reviewer)
    retrieval.embed_missing()
    assert (version.state, version.verified_by, version.author) == ("verified", reviewer, None)
    assert version.provenance["run"] == 7
    assert version.entry.title == STATEMENT
    assert retrieval.retrieve(STATEMENT).answer == "match"


def test_edited_script_waits_for_another_user_unless_a_team_of_one_verifies_its_own(
    reviewer: User, second_reviewer: User, settings: Settings
) -> None:
    own = publish(reviewer, author=reviewer)
    others = publish(second_reviewer, author=reviewer, script="date\n", statement="Tell the date")
    assert (own.state, own.author) == ("in_review", reviewer)
    assert (others.state, others.verified_by) == ("verified", second_reviewer)
    wanted = {"script": "df\n", "statement": "Show the disks"}
    assert publish(reviewer, verified=False, **wanted).state == "in_review"
    settings.SCRIPTSMITH_SELF_VERIFY = True
    alone = publish(reviewer, author=reviewer, script="id\n", statement="Show who I am")
    assert (alone.state, alone.self_verified) == ("verified", True)


def test_the_same_script_becomes_a_phrasing(reviewer: User) -> None:
    first = publish(reviewer)
    again = publish(reviewer, statement="Since when has it been running?")
    once_more = publish(reviewer, statement="Since when has it been running?")
    assert first == again == once_more
    assert Entry.objects.count() == 1
    assert [phrasing.text for phrasing in Phrasing.objects.all()] == [
        STATEMENT,
        "Since when has it been running?",
    ]


def test_a_suspended_script_does_not_come_back_by_another_approval(
    reviewer: User, curator: User
) -> None:
    suspended = publish(reviewer)
    services.suspend(suspended.entry, by=curator, reason="INC-5")
    again = publish(reviewer, statement="Uptime, please")
    assert again != suspended
    assert again.state == "in_review"


def test_a_version_of_an_entry_replaces_the_verified_one(reviewer: User) -> None:
    former = shelve("Tell the time", script="date\n")
    version = publish(reviewer, entry=former.entry)
    former.refresh_from_db()
    assert (version.number, version.state, former.state) == (2, "verified", "deprecated")


def test_a_long_statement_is_kept_whole_beside_a_short_title(reviewer: User) -> None:
    statement = "Show the uptime " * 40
    version = publish(reviewer, statement=statement)
    assert len(version.entry.title) <= 300
    assert version.entry.title.endswith("…")
    assert list(version.entry.phrasings.values_list("text", flat=True))[1] == statement.strip()


def test_nothing_is_published_from_nothing(reviewer: User) -> None:
    for changes in ({"statement": " "}, {"script": "\n"}, {"script": "a\0"}):
        with pytest.raises(BadInput):
            publish(reviewer, **changes)
    assert not Entry.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_approvals_of_one_script_at_once_one_makes_the_entry() -> None:
    def approve(by: User) -> None:
        publish(by, statement=f"Show the uptime, says {by.username}")

    assert at_once(approve, approve, role="reviewer") == ["", ""]
    assert (Entry.objects.count(), Version.objects.count()) == (1, 1)
    assert Phrasing.objects.count() == 2
