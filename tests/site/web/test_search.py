"""Tests that the search shows ten results of each kind, and no result that the user may not see."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Entry
from catalog.services import create_entry
from pipeline.models import Action
from tests.make import make_action, make_run
from tests.people import make_person
from tests.review.maker import make_study


@pytest.fixture
def things(reviewer: User) -> None:
    for number in range(12):
        make_action(f"Rotate the logs of service {number} in /var/log/app", by=reviewer)
    make_action("Restart nginx when its configuration is valid", by=reviewer)


def titles(client: Client, query: str) -> list[str]:
    return [group.title for group in client.get("/search/", {"q": query}).context["groups"]]


def test_requests_are_found_in_any_order(as_reviewer: Client, things: None) -> None:
    page = as_reviewer.get("/search/", {"q": "logs of SERVICE"})
    (group,) = page.context["groups"]
    assert group.title == "Requests"
    assert len(group.hits) == 10
    assert 'href="/actions/?q=logs+of+SERVICE"' in page.content.decode()
    assert "Restart nginx" not in page.content.decode()
    (group,) = as_reviewer.get("/search/", {"q": "service rotate LOGS"}).context["groups"]
    assert group.title == "Requests" and len(group.hits) == 10
    listed = as_reviewer.get("/actions/", {"q": "service rotate LOGS"})
    assert "logs of service" in listed.text.lower()
    assert titles(as_reviewer, "service rotate nothing-like-it") == []


def test_objects_are_found_by_number(client: Client, curator: User, reviewer: User) -> None:
    version = create_entry("Rotate the logs of nginx", script="logrotate -f /etc/x\n", by=curator)
    client.force_login(curator)
    assert titles(client, "rotate nginx") == ["Catalogue"]
    page = client.get("/search/", {"q": "rotate nginx"}).content.decode()
    assert f'href="/catalogue/{version.entry.slug}/"' in page
    run = make_run(by=reviewer)
    client.force_login(reviewer)
    for query in (f"{run.pk}", f"run {run.pk}", f"#{run.pk}", f"Run #{run.pk}"):
        page = client.get("/search/", {"q": query}).content.decode()
        assert f'href="/runs/{run.pk}/"' in page, query


def test_users_are_found_by_admin(client: Client, administrator: User, reviewer: User) -> None:
    client.force_login(administrator)
    assert titles(client, "rit") == ["Users"]
    client.force_login(reviewer)
    assert titles(client, "rit") == []


def test_entry_says_its_state_its_risk_and_line_that_matched(client: Client, curator: User) -> None:
    script = "#!/usr/bin/env bash\nset -e\nrm -rf /srv/spool/zebra\n"
    create_entry("Empty the spool", script=script, by=curator)
    client.force_login(curator)
    page = client.get("/search/", {"q": "spool zebra"}).content.decode()
    assert "rm -rf /srv/spool/zebra" in page
    assert "high risk" in page
    assert "badge" in page.split("Empty the spool")[1]
    # If the title contains all search words, no matching line is shown below it.
    assert "found-line" not in client.get("/search/", {"q": "empty"}).content.decode()


def test_an_action_says_how_its_run_stands(as_reviewer: Client, reviewer: User) -> None:
    run = make_run(by=reviewer, statement="Rotate the logs of zebra")
    long = make_action(f"{'Look here. ' * 40}Then count the zebras", by=reviewer)
    page = as_reviewer.get("/search/", {"q": "zebra"}).content.decode()
    (actions,) = as_reviewer.get("/search/", {"q": "zebra"}).context["groups"]
    answers = {hit.action.answer.status if hit.action.answer else "" for hit in actions.hits}
    assert answers == {"unreviewed", ""}
    for text in (f'href="/runs/{run.pk}/"', f'href="/actions/{long.pk}/"', "count the zebras"):
        assert text in page


def test_pages_and_commands_are_those_that_the_role_may_use(client: Client, db: None) -> None:
    expected = {
        ("curator", "new entry"): ["/catalogue/new/"],
        ("curator", "impo"): ["/catalogue/imports/"],
        ("reviewer", "new entry"): [],
        ("reviewer", "queue"): ["/queue/"],
        ("curator", "queue"): [],
        ("administrator", "audit"): ["/audit/"],
        ("reviewer", "audit"): [],
        ("administrator", "backup"): ["/operation/#storage"],
        ("manager", "backup"): [],
    }
    roles = {role for role, _query in expected}
    users = {role: make_person(f"some-{role}", role) for role in roles}
    found = {}
    for role, query in expected:
        client.force_login(users[role])
        found[role, query] = [
            hit.url
            for group in client.get("/search/", {"q": query}).context["groups"]
            for hit in group.hits
            if group.title == "Pages and commands"
        ]
    assert found == expected


def test_studies_are_found_by_members(client: Client, manager: User, reviewer: User) -> None:
    other = make_person("olga", "reviewer")
    mine = make_study(by=manager, reviewers=[reviewer], items=2, name="Zebra study")
    make_study(by=manager, reviewers=[other], items=2, name="Zebra of others")

    def hits(user: User) -> dict[str, list[str]]:
        client.force_login(user)
        groups = client.get("/search/", {"q": "zebra"}).context["groups"]
        return {group.title: [hit.words for hit in group.hits] for group in groups}

    assert hits(manager)["Studies"] == ["Zebra of others", "Zebra study"]
    assert hits(reviewer) == {"My studies": ["Zebra study"]}
    client.force_login(reviewer)
    page = client.get("/search/", {"q": "zebra"}).content.decode()
    assert f'href="/studies/{mine.pk}/"' in page
    mine.state = "closed"
    mine.save(update_fields=["state"])
    assert hits(reviewer) == {}


def test_typing_shows_fewer_results(as_reviewer: Client, things: None) -> None:
    page = as_reviewer.get("/search/", {"q": "logs"}, headers={"HX-Request": "true"})
    (group,) = page.context["groups"]
    assert len(group.hits) == 5
    assert "<html" not in page.content.decode()


def test_nothing_asked_and_nothing_found_say_the_next_step(as_reviewer: Client) -> None:
    assert "Search ScriptSmith" in as_reviewer.get("/search/").content.decode()
    page = as_reviewer.get("/search/", {"q": "zebra"}).content.decode()
    assert "No results" in page
    assert 'href="/actions/new/"' in page


def test_odd_query_finds_nothing(as_reviewer: Client, things: None) -> None:
    for query in ("<script>alert(1)</script>", "%_\\", "9" * 40, "²", "x" * 5000):
        answer = as_reviewer.get("/search/", {"q": query})
        assert answer.status_code == 200, query
        assert b"<script>alert" not in answer.content


def test_it_asks_a_fixed_number_of_questions(
    as_administrator: Client, things: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    as_administrator.get("/search/", {"q": "logs"})
    with django_assert_num_queries(9):
        as_administrator.get("/search/", {"q": "logs"})
    Action.objects.filter(statement__startswith="Rotate").update(statement="x")
    assert not Entry.objects.exists()
    # Without results, no runs are queried.
    with django_assert_num_queries(8):
        as_administrator.get("/search/", {"q": "logs"})
