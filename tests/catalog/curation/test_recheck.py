"""Tests for checking scripts again with a newer checker."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog import analysis
from catalog.curation import services
from catalog.curation.services.rechecks import recheck_versions
from catalog.entries import services as entry_services
from catalog.models import Recheck, Version
from core.audit import events_of
from core.errors import NotAllowedNow
from tests.catalog.shelf import ClientFor, shelve
from tests.query_counts import count_queries

pytestmark = pytest.mark.django_db

ADDRESS = "/catalogue/curation/findings/"
UNQUOTED = "#!/usr/bin/env bash\nset -euo pipefail\nname=$1\nls $name\n"


def age(version: Version, findings: list[dict[str, object]] | None = None) -> None:
    """Mark the version as checked by an older checker, with these findings."""
    Version.objects.filter(pk=version.pk).update(
        checked_with="shellcheck 0.1", findings=findings or []
    )


@pytest.fixture
def old(db: None) -> Version:
    version = shelve("List a folder", script=UNQUOTED)
    age(version)
    return version


def test_what_was_just_checked_is_not_checked_again() -> None:
    version = shelve("List a folder", script=UNQUOTED)
    assert version.checked_with == analysis.checkers()
    assert recheck_versions(limit=10) == 0
    assert not Recheck.objects.exists()


def test_recheck_keeps_verified_state(old: Version, curator: User, client_for: ClientFor) -> None:
    same = shelve("Print the uptime")
    age(same)

    assert recheck_versions(limit=10) == 2
    assert recheck_versions(limit=10) == 0

    page = client_for(curator).get(ADDRESS)
    assert "SC2086" in page.text
    assert old.entry.title in page.text
    assert same.entry.title not in page.text
    old.refresh_from_db()
    assert old.findings == []
    assert "The findings have changed since" in (
        client_for(curator).get(f"/catalogue/{old.entry.slug}/").text
    )


def test_a_risk_that_a_newer_check_finds_counts_in_every_list(as_curator: Client) -> None:
    version = shelve("Empty the cache", script="#!/usr/bin/env bash\nrm -rf /var/cache/app/*\n")
    age(version)
    Version.objects.filter(pk=version.pk).update(risk="low")
    said = shelve("Print the uptime")
    age(said)
    Version.objects.filter(pk=said.pk).update(risk="high")

    recheck_versions(limit=10)

    version.refresh_from_db()
    said.refresh_from_db()
    assert (version.risk, said.risk) == ("high", "high"), "what a person said is never lowered"
    assert version.entry.title in as_curator.get("/catalogue/?risk=high").text
    assert version.entry.title not in as_curator.get("/catalogue/?risk=low").text
    assert [len(events_of(one, "risk raised by a newer check")) for one in (version, said)] == [
        1,
        0,
    ]


def test_what_is_gone_is_said_too(curator: User, client_for: ClientFor) -> None:
    version = shelve("Print the uptime")
    age(version, [{"check": "shellcheck", "code": "SC9999", "line": 3, "message": "was wrong"}])
    recheck_versions(limit=10)
    version.refresh_from_db()
    changed = entry_services.newer_findings(version)
    assert [found["code"] for found in changed.gone] == ["SC9999"]
    assert changed.new == ()


def test_seen_it_is_listed_again_only_when_it_changes(
    old: Version, second_curator: User, as_curator: Client
) -> None:
    recheck_versions(limit=10)
    recheck = Recheck.objects.get()

    assert as_curator.post(f"{ADDRESS}{recheck.pk}/seen/").status_code == 302
    assert "All scripts checked so far" in as_curator.get(ADDRESS).text
    with pytest.raises(NotAllowedNow):
        services.mark_seen(recheck, by=second_curator)

    Recheck.objects.update(checked_with="shellcheck 0.2")
    recheck_versions(limit=10)
    assert "All scripts checked so far" in as_curator.get(ADDRESS).text

    Recheck.objects.update(checked_with="shellcheck 0.2", findings=[])
    recheck_versions(limit=10)
    assert old.entry.title in as_curator.get(ADDRESS).text


def test_what_is_out_of_use_is_left_alone(old: Version, curator: User) -> None:
    entry_services.deprecate(old, by=curator, reason="gone")
    assert recheck_versions(limit=10) == 0


def test_the_number_of_queries_does_not_grow(old: Version, as_curator: Client) -> None:
    recheck_versions(limit=10)
    as_curator.get(ADDRESS)
    few = count_queries(as_curator, ADDRESS)
    for number in range(3):
        age(shelve(f"List folder {number}", script=UNQUOTED + f"echo {number}\n"))
    recheck_versions(limit=10)

    assert Recheck.objects.to_look_at().count() == 4
    assert count_queries(as_curator, ADDRESS) == few <= 15
