"""Tests that curators describe their team's tools and that stored scripts are checked again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from catalog.curation.services.rechecks import recheck_versions
from catalog.models import Recheck, ToolRule, Version
from catalog.models.tool_rule import CACHE_KEY
from core.audit import events_of
from tests.catalog.shelf import ClientFor, shelve

pytestmark = pytest.mark.django_db

ADDRESS = "/catalogue/curation/tools/"
SCRIPT = (
    "#!/usr/bin/env bash\nset -euo pipefail\ndeployctl rollback shop\ndeployctl rollback cart\n"
)


def test_curator_adds_changes_and_removes_a_rule_on_the_pages(
    curator: User, as_curator: Client
) -> None:
    assert "No rules yet" in as_curator.get(ADDRESS).text
    sent = {"name": " deployctl  rollback ", "effect": "reads", "note": ""}
    assert as_curator.post(f"{ADDRESS}new/", sent).status_code == 302
    rule = ToolRule.objects.get()
    assert (rule.name, rule.effect, rule.by) == ("deployctl rollback", "reads", curator)

    sent = {"name": rule.name, "effect": "destroys", "note": "Undoes a release."}
    assert as_curator.post(f"{ADDRESS}{rule.pk}/", sent).status_code == 302
    page = as_curator.get(ADDRESS).text
    assert "Destroys something" in page
    assert "Undoes a release." in page

    assert as_curator.post(f"{ADDRESS}{rule.pk}/remove/").status_code == 302
    assert not ToolRule.objects.exists()
    events = events_of(rule, "tool rule added", "tool rule changed", "tool rule removed")
    assert [one.actor for one in events] == [curator] * 3


INVALID = [
    ({"name": ""}, "This field is required."),
    ({"name": "   "}, "This field is required."),
    ({"name": "deployctl --force"}, "without options or quotes"),
    ({"name": "-x"}, "without options or quotes"),
    ({"name": "a b c d e"}, "up to three subcommands"),
    ({"name": "rm; ls"}, "without options or quotes"),
    ({"name": "x" * 81}, "at most 80"),
    ({"name": "taken"}, "already has a rule"),
    ({"name": "tool", "effect": "eats"}, "not one of the available choices"),
    ({"name": "tool", "note": "y" * 501}, "at most 500"),
]


def test_invalid_rule_is_refused_next_to_its_field(curator: User, as_curator: Client) -> None:
    ToolRule.objects.create(name="taken", effect="reads", by=curator)
    for values, words in INVALID:
        sent = {"effect": "reads", "note": "", **values}
        page = as_curator.post(f"{ADDRESS}new/", sent)
        assert (page.status_code, words in page.text) == (422, True), values
        by_api = as_curator.post("/api/v1/tool-rules/", sent, content_type="application/json")
        assert by_api.status_code == 422, (values, by_api.text)
        assert ToolRule.objects.count() == 1, values


def test_rules_by_the_api(curator: User, client_for: ClientFor) -> None:
    client = client_for(curator)
    json = "application/json"
    made = client.post(
        "/api/v1/tool-rules/", {"name": "deployctl", "effect": "reads"}, content_type=json
    )
    address = f"/api/v1/tool-rules/{made.json()['id']}/"
    changed = client.put(address, {"name": "deployctl", "effect": "changes"}, content_type=json)
    listed = client.get("/api/v1/tool-rules/").json()
    assert (made.status_code, changed.json()["effect"]) == (201, "changes")
    assert [one["name"] for one in listed["results"]] == ["deployctl"]
    assert client.delete(address).status_code == 204
    assert client.delete(address).status_code == 404


def test_new_rule_rechecks_live_entries_and_lists_those_whose_risk_rose(
    curator: User, client_for: ClientFor
) -> None:
    risen, same = shelve("Roll back the shop", script=SCRIPT), shelve("Print the uptime")
    client = client_for(curator)
    entry_page = client.get(f"/catalogue/{risen.entry.slug}/").text
    assert "No rule knows deployctl (2 uses, lines 3 and 4). Check what it does." in entry_page
    assert "4 of 4 lines analyzed" in entry_page
    assert recheck_versions(limit=10) == 0

    client.post(f"{ADDRESS}new/", {"name": "deployctl rollback", "effect": "destroys", "note": ""})
    assert recheck_versions(limit=10) == 2
    assert recheck_versions(limit=10) == 0

    risen.refresh_from_db()
    assert (risen.risk, risen.state) == ("high", Version.State.VERIFIED)
    page = client.get("/catalogue/curation/findings/").text
    assert "The risk of 1 live entry rose." in page
    raised = client.get("/catalogue/curation/findings/?risk=raised").text
    assert risen.entry.title in raised
    assert same.entry.title not in raised
    assert Recheck.objects.get(version=risen).risk_before == "medium"
    assert "rose to" in raised
    api = client.get(f"/api/v1/versions/{risen.pk}/").json()
    assert (api["risk"], api["not_judged"], api["lines"], api["analyzed_lines"]) == (
        "high",
        [],
        4,
        4,
    )

    recheck = Recheck.objects.get(version=risen)
    client.post(f"/catalogue/curation/findings/{recheck.pk}/seen/")
    assert "live entry rose" not in client.get("/catalogue/curation/findings/").text


def test_rule_for_another_tool_leaves_a_risk_that_a_curator_lowered(curator: User) -> None:
    version = shelve("Roll back the shop", script=SCRIPT)
    Version.objects.filter(pk=version.pk).update(risk="low")
    ToolRule.objects.create(name="otherctl", effect="destroys", by=curator)
    cache.delete(CACHE_KEY)
    assert recheck_versions(limit=10) == 1
    version.refresh_from_db()
    assert (version.risk, version.recheck.risk_before) == ("low", "")
    ToolRule.objects.create(name="deployctl", effect="changes", by=curator)
    cache.delete(CACHE_KEY)
    recheck_versions(limit=10)
    version.refresh_from_db()
    assert version.risk == "low", "the script is a medium risk, as before"
    ToolRule.objects.update(effect="destroys")
    cache.delete(CACHE_KEY)
    recheck_versions(limit=10)
    version.refresh_from_db()
    assert (version.risk, version.recheck.risk_before) == ("high", "low")


def test_lines_are_unknown_until_an_old_version_is_rechecked(
    curator: User, client_for: ClientFor
) -> None:
    version = shelve("Print a broken list", script="date\nfor do (( ;;\nfrob\n")
    old = "shellcheck 0.9, risk rules 4, characters 1"
    Version.objects.filter(pk=version.pk).update(checked_with=old, findings=[])
    address = f"/api/v1/versions/{version.pk}/"
    client = client_for(curator)
    before = client.get(address).json()
    assert (before["lines"], before["analyzed_lines"], before["not_judged"]) == (None, None, [])

    recheck_versions(limit=10)

    after = client.get(address).json()
    assert after["lines"] == 3
    assert after["analyzed_lines"] < 3
