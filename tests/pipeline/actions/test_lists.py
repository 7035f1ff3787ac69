"""Tests for the list of actions with its filters, and for the page of an action."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline import services
from pipeline.models import Action
from tests import people
from tests.make import make_action, make_run
from tests.query_counts import count_queries

client = people.as_reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(reviewer: User, second_reviewer: User) -> None:
    """Create four actions: one passed, one flagged, one not run, and one passed but queued again."""
    make_run(by=reviewer, statement="Restart nginx")
    drained = make_run(by=second_reviewer, statement="Drain node 7", verdict="incorrect")
    Action.objects.filter(pk=drained.action_id).update(severity=1)
    make_action("Count open files", by=reviewer)
    again = make_run(by=second_reviewer, statement="Rotate logs")
    services.start_run(again.action, by=second_reviewer, enqueue=False)


def test_address_narrows_list(asked: None, client: Client, subtests: pytest.Subtests) -> None:
    cases = {
        "all, newest first": ({}, ["Rotate", "Count", "Drain", "Restart"]),
        "mine": ({"whose": "mine"}, ["Count", "Restart"]),
        "by words": ({"q": "NODE"}, ["Drain"]),
        "percent is no wildcard": ({"q": "100%"}, []),
        "by state of the newest run": ({"state": "done"}, ["Drain", "Restart"]),
        "queued again": ({"state": "queued"}, ["Rotate"]),
        "by verdict of the newest run": ({"verdict": "correct"}, ["Restart"]),
        "together": ({"state": "done", "whose": "mine"}, ["Restart"]),
        "by severity": ({"severity": "1"}, ["Drain"]),
        "by who asked": ({"by": "rolf"}, ["Rotate", "Drain"]),
        "by where it comes from": ({"source": "imported"}, []),
        "oldest": ({"sort": "oldest"}, ["Restart", "Drain", "Count", "Rotate"]),
        "most severe": ({"sort": "severe"}, ["Drain", "Rotate", "Count", "Restart"]),
        "least severe": ({"sort": "mild"}, ["Restart", "Count", "Rotate", "Drain"]),
        "by asker": ({"sort": "asker"}, ["Count", "Restart", "Rotate", "Drain"]),
        "by statement": ({"sort": "statement"}, ["Count", "Drain", "Restart", "Rotate"]),
    }
    for name, (query, shown) in cases.items():
        with subtests.test(name):
            response = client.get(reverse("action-list"), query)
            rows = response.context["rows"]
            assert [row.action.statement.split()[0] for row in rows] == shown


def test_a_filter_that_does_not_exist_is_said_to_be_wrong(asked: None, client: Client) -> None:
    response = client.get(reverse("action-list"), {"state": "elsewhere"})
    assert response.status_code == 422
    assert "a filter value is unknown" in response.text
    assert "Restart nginx" not in response.text
    # On phones, the filters are collapsed, but their error message stays visible.
    assert 'popovertarget="facets"' in response.text
    assert client.get(reverse("action-list"), {"before": "x"}).status_code == 422


def test_an_empty_list_says_the_next_step(as_stranger: Client, client: Client) -> None:
    assert reverse("action-new") in client.get(reverse("action-list")).text
    assert "requires the Reviewer role" in as_stranger.get(reverse("action-list")).text
    nothing = client.get(reverse("action-list"), {"q": "no such words"}).text
    assert "Clear filters" in nothing


def test_older_actions_are_a_link_away(client: Client, reviewer: User) -> None:
    for number in range(51):
        make_action(f"Action {number}", by=reviewer)
    first = client.get(reverse("action-list"), {"whose": "mine"}).context["page"]
    assert len(first.rows) == 50
    second = client.get(reverse("action-list") + first.older).context["page"]
    assert [action.statement for action in second.rows] == ["Action 0"]
    assert "whose=mine" in second.newer


def test_erased_action_shows_no_text(client: Client, reviewer: User, administrator: User) -> None:
    run = make_run(by=reviewer, statement="Delete what nobody may know")
    services.erase_action(run.action, by=administrator)
    for name, pk in (("action-detail", run.action_id), ("run-detail", run.pk)):
        page = client.get(reverse(name, args=[pk])).text
        assert "(erased)" in page
        assert "nobody may know" not in page


def test_the_page_of_an_action_shows_context_and_runs(client: Client, reviewer: User) -> None:
    action = make_action(by=reviewer, incident="Pager at 03:12", impact="reports lost", severity=1)
    services.start_run(action, by=reviewer, enqueue=False)
    page = client.get(reverse("action-detail", args=[action.pk])).text
    for words in (
        "Pager at 03:12",
        "reports lost",
        "severity-1",
        "Critical",
        "Demo model",
        "Start run",
    ):
        assert words in page


def test_finished_action_offers_no_form(as_second_reviewer: Client, reviewer: User) -> None:
    action = make_action(by=reviewer)
    page = as_second_reviewer.get(reverse("action-detail", args=[action.pk])).text
    assert "Start run" not in page


@pytest.mark.slow
def test_lists_take_a_fixed_number_of_queries(as_stranger: Client, reviewer: User) -> None:
    client, action = as_stranger, make_run(by=reviewer).action
    addresses = [reverse("action-list"), reverse("action-detail", args=[action.pk])]
    few = [count_queries(client, address) for address in addresses]
    for number in range(30):
        make_run(by=reviewer, statement=f"Statement {number}")
        services.start_run(action, by=reviewer, enqueue=False)
    assert [count_queries(client, address) for address in addresses] == few
    assert max(few) <= 16
