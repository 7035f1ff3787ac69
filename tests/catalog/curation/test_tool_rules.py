"""Tests that curators describe their team's tools and that stored scripts are checked again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client

from catalog.curation.services.rechecks import recheck_versions
from catalog.models import Recheck, ToolRule, Version
from catalog.models.tool_rule import CACHE_KEY
from core.audit import events_of
from tests.catalog.shelf import ClientFor, shelve
from tests.page_forms import forms_in
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db

ADDRESS = "/catalogue/curation/tools/"
SCRIPT = (
    "#!/usr/bin/env bash\nset -euo pipefail\ndeployctl rollback shop\ndeployctl rollback cart\n"
)


def fill(client: Client, address: str, **values: str) -> HttpResponse:
    """Fill in the form on the page and send it as a browser does, with its CSRF token."""
    page = client.get(address)
    form = next(one for one in forms_in(page.text) if "name" in {c.name for c in one.controls})
    for name, value in values.items():
        form.fill(**{name: value})
    return client.post(address, form.sent())


def test_curator_adds_changes_and_removes_a_rule_on_the_pages(curator: User) -> None:
    client = WebClient()
    client.force_login(curator)
    assert "No rules yet" in client.get(ADDRESS).text

    assert (
        fill(client, f"{ADDRESS}new/", name=" deployctl  rollback ", effect="reads").status_code
        == 302
    )
    rule = ToolRule.objects.get()
    assert (rule.name, rule.effect, rule.by) == ("deployctl rollback", "reads", curator)
    changed = fill(client, f"{ADDRESS}{rule.pk}/", effect="destroys", note="Undoes a release.")
    assert changed.status_code == 302
    page = client.get(ADDRESS).text
    assert "Destroys something" in page
    assert "Undoes a release." in page
    form = next(one for one in forms_in(page) if one.action.endswith("/remove/"))
    assert client.post(form.action, form.sent()).status_code == 302
    assert not ToolRule.objects.exists()
    events = events_of(rule, "tool rule added", "tool rule changed", "tool rule removed")
    assert [one.actor for one in events] == [curator] * 3


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "   "}, "This field is required."),
        ({"name": "deployctl --force"}, "without options or quotes"),
        ({"name": "-x"}, "without options or quotes"),
        ({"name": "a b c d e"}, "at most three subcommands"),
        ({"name": "rm; ls"}, "without options or quotes"),
        ({"name": "x" * 81}, "at most 80"),
        ({"name": "taken"}, "already has a rule"),
        ({"name": "tool", "effect": "eats"}, "not one of the available choices"),
        ({"name": "tool", "note": "y" * 501}, "at most 500"),
    ],
)
def test_invalid_rule_is_refused_next_to_its_field(
    curator: User, client_for: ClientFor, values: dict[str, str], words: str
) -> None:
    ToolRule.objects.create(name="taken", effect="reads", by=curator)
    sent = {"effect": "reads", "note": "", **values}
    client = client_for(curator)
    page = client.post(f"{ADDRESS}new/", sent)
    assert (page.status_code, ToolRule.objects.count()) == (422, 1)
    assert words in page.text
    by_api = client.post("/api/v1/tool-rules/", sent, content_type="application/json")
    assert (by_api.status_code, ToolRule.objects.count()) == (422, 1), by_api.text


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
