"""Tests for the counts next to the list of actions, for its pages in other sort orders, and for saved views."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from catalog.models import SavedView
from pipeline.models import Assessment, Run
from review import services as review
from tests import people
from tests.first_cases import first_cases
from tests.make import make_action, make_run
from tests.people import ClientFor
from tests.pipeline.actions.test_lists import asked

client = people.as_reviewer

pytestmark = pytest.mark.django_db
__all__ = ["asked"]
LIST = "/actions/"


def counts(client: Client, **query: str) -> dict[str, dict[str, str]]:
    groups = client.get(LIST, query).context["groups"]
    return {one.name: {chip.label: chip.count for chip in one.chips} for one in groups}


@pytest.mark.parametrize(
    "query", first_cases(1, [{"severity": "1"}, {}, {"whose": "mine"}, {"q": "o"}])
)
def test_each_count_is_what_the_list_has_when_one_follows_it(
    query: dict[str, str], asked: None, as_second_reviewer: Client
) -> None:
    page = as_second_reviewer.get(LIST, query)
    assert page.context["said"].startswith(f"{len(page.context['rows'])} request")
    for group in page.context["groups"]:
        for chip in group.chips:
            if not chip.current:
                after = as_second_reviewer.get(LIST + chip.url).context["rows"]
                assert str(len(after)) == chip.count, (group.name, chip.label)


def test_a_chip_and_a_head_lead_there_and_back(asked: None, client: Client) -> None:
    page = client.get(LIST, {"severity": "1", "sort": "severe", "start": "0"}).text
    assert 'aria-current="true" href="?sort=severe"' in page
    assert 'aria-sort="descending"' in page and "?severity=1&amp;sort=mild" in page
    assert "1 request<" in page


def test_other_orders_go_on_page_by_page(
    client: Client, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.actions.views.PAGE_SIZE", 2)
    monkeypatch.setattr("pipeline.actions.list_facets.PAGE_SIZE", 2)
    for number in range(5):
        make_action(f"Action {number}", by=reviewer)

    def page(start: int) -> list[str]:
        rows = client.get(LIST, {"sort": "oldest", "start": str(start)}).context["rows"]
        return [row.action.statement for row in rows]

    assert [page(start) for start in (0, 2, 4)] == [
        ["Action 0", "Action 1"],
        ["Action 2", "Action 3"],
        ["Action 4"],
    ]
    assert client.get(LIST, {"sort": "oldest", "start": "x"}).status_code == 422
    assert client.get(LIST, {"sort": "sideways"}).status_code == 422


def test_of_many_the_newest_are_counted(
    asked: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.actions.list_facets.MOST_COUNTED", 2)
    monkeypatch.setattr("pipeline.actions.list_facets.MOST_ANSWERS", 1)
    page = client.get(LIST)
    assert page.context["said"] == "4 requests"
    assert counts(client)["severity"] == {
        "Critical": "", "High": "", "Medium": "2+", "Low": "",
    }  # fmt: skip
    assert client.get(LIST, {"state": "done"}).context["said"] == "1+ request"


@pytest.mark.slow
def test_what_differs_in_hidden_verdicts_alone_is_counted_alike(
    client_for: ClientFor, client: Client, second_reviewer: User, curator: User
) -> None:
    """With any filters, no count may reveal a waiting item's verdict to a user who may score the item."""
    run = make_run(by=second_reviewer, statement="Delete old exports", verdict="correct")
    review.take_in(run.pk)
    queries = [
        {},
        {"answer": "hidden"},
        {"answer": "flagged"},
        {"verdict": "incorrect"},
        {"q": "old"},
    ]
    seen = {}
    for verdict in ("correct", "incorrect"):
        Run.objects.filter(pk=run.pk).update(verdict=verdict)
        Assessment.objects.update(verdict=verdict)
        seen[verdict] = [
            (counts(client, **one), client.get(LIST, one).context["said"]) for one in queries
        ]
    assert seen["correct"] == seen["incorrect"]
    assert seen["correct"][0][0]["answer"] == {"Hidden until scored": "1"}
    # A curator may see the verdict, and the view is recorded for this user.
    assert counts(client_for(curator))["answer"] == {"Flagged": "1"}


def test_hidden_answer_is_not_counted(as_curator: Client, second_reviewer: User) -> None:
    run = make_run(by=second_reviewer, statement="Delete old exports", verdict="incorrect")
    elsewhere = counts(as_curator, q="old", answer="verified")
    assert elsewhere == {}
    page = as_curator.get(LIST, {"q": "old", "before": str(run.action_id)})
    assert not page.context["groups"] and not page.context["said"]


def test_views_are_kept_for_each_list(client: Client, reviewer: User) -> None:
    SavedView.objects.create(user=reviewer, name="Risky", query="risk=high")
    for query in ("severity=1&before=7", "severity=1&sort=severe"):
        data = {"listing": "action-list", "name": "Urgent", "query": query}
        assert client.post("/views/save/", data)["Location"].startswith("/actions/?severity=1")
    view = SavedView.objects.get(listing="action-list")
    assert (view.name, view.query) == ("Urgent", "severity=1&sort=severe")
    page = client.get(LIST, {"severity": "1", "sort": "severe"}).text
    assert "Urgent" in page and "Risky" not in page and 'aria-current="page">Urgent' in page
    assert "Urgent" not in client.get("/catalogue/").text
    assert client.post(f"/views/{view.pk}/remove/")["Location"] == "/actions/"


def test_of_a_list_that_does_not_exist_no_view_is_kept(client: Client) -> None:
    data = {"listing": "https://elsewhere.example", "name": "X", "query": "severity=1"}
    answer = client.post("/views/save/", data)
    assert answer["Location"].startswith("/catalogue/")
    assert not SavedView.objects.exists()
