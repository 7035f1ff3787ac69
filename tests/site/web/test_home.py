"""Tests that the home page lists each role's pending work, updates itself, and shows no figure of an open study."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from catalog import services as catalog
from catalog.models import Version
from pipeline.models import Endpoint, Run
from review import services as review
from review.models import Assignment, Flag, Item, ReportLook
from tests.make import make_run, make_version
from tests.people import make_person
from tests.query_counts import count_queries
from tests.review.maker import make_study
from tests.site.browsing import ClientFor

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


def test_a_reviewer_sees_the_queue_what_came_back_and_their_studies(
    client_for: ClientFor, manager: User, reviewer: User, second_reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=3, name="Night shift")
    for number in range(2):
        review.take_in(make_run(by=second_reviewer, statement=f"Statement {number}").pk)
    held = Item.objects.filter(campaign__kind="live").order_by("pk")[0]
    review.claim_item(held, by=reviewer)
    Assignment.objects.filter(item=held).update(state="waiting", lease_until=None)

    page = client_for(reviewer).get("/").text

    assert "feedback ready" in page
    run = held.run
    run.refinements.create(draft=run.recommended, state="failed")
    for address in ("/", reverse("queue")):
        assert "no rewrite" in client_for(reviewer).get(address).text
    assert "Night shift" in page and reverse("study-next", args=[study.pk]) in page
    assert "<strong>3</strong>" in page
    assert "1 in the review queue" in page


def test_the_bar_counts_what_waits_in_studies(
    client_for: ClientFor, manager: User, reviewer: User, second_reviewer: User
) -> None:
    make_study(by=manager, reviewers=[reviewer], items=2)

    assert client_for(reviewer).get("/settings/").context["studies_count"]() == 2
    assert client_for(second_reviewer).get("/settings/").context["studies_count"]() == 0


def test_a_manager_sees_each_campaign_with_its_next_step_and_no_figure(
    client_for: ClientFor, manager: User, reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=2, name="Night shift")
    study.primary_figure = "first_pass_accuracy"
    study.save(update_fields=["primary_figure"])
    make_study(by=manager, reviewers=[], items=1, name="Half made", is_open=False)
    first, second = study.items.order_by("pk")
    Item.objects.filter(pk=first.pk).update(disputed=True)
    Flag.objects.create(item=second, by=reviewer, reason="The statement is cut off")
    Assignment.objects.bulk_create(
        Assignment(item=second, reviewer=reviewer, state="expired") for _time in range(3)
    )

    response = client_for(manager).get("/")

    made, opened = response.context["live"], response.text
    assert "Half made" in made and "Finish setup" in made
    assert "Adjudicate 1 item" in opened and "1 stalled" in opened and "1 flag" in opened
    assert reverse("campaign-disputes", args=[study.pk]) in opened
    assert "First-pass accuracy" in opened and "%" not in _words_of(made)
    assert not ReportLook.objects.exists()


def _words_of(html: str) -> str:
    return html.partition("Studies</h2>")[2]


def test_curator_sees_what_to_verify(client_for: ClientFor, curator: User, reviewer: User) -> None:
    waiting = make_version("Rotate logs", script="logrotate -f /etc/x\n")
    Version.objects.filter(pk=waiting.pk).update(state="in_review", author=reviewer)
    bad = make_version("Clean up", script="ls\n", by=reviewer)
    hurried = make_version("Restart it", script="systemctl restart x\n", by=reviewer)
    hurried.rollbacks.create(reason="The site is down.", is_emergency=True, by=reviewer)
    catalog.suspend(bad.entry, reason="It filled the disk.", by=curator)

    page = client_for(curator).get("/").text

    for words in ("Rotate logs", "Clean up", "It filled the disk.", "near-duplicates"):
        assert words in page
    assert f"{reverse('catalog-list')}?age=once" in page
    assert reverse("version-review", args=[waiting.pk]) in page
    assert "<strong>1</strong> emergency rollbacks to confirm" in page
    assert "<strong>0</strong> with changed test results" in page


def test_an_administrator_sees_who_waits_what_was_spent_and_what_rests(
    client_for: ClientFor, administrator: User, reviewer: User
) -> None:
    run = make_run(by=reviewer)
    Run.objects.filter(pk=run.pk).update(state="queued", finished_at=None, recommended=None)
    Endpoint.objects.filter(name="demo").update(
        blocked_until=timezone.now() + timedelta(minutes=5), blocked_why="It is busy."
    )

    page = client_for(administrator).get("/").text

    assert "user request waiting" in page
    assert "It is busy." in page and "spent this month" in page


def test_roles_add_up_on_one_page(client_for: ClientFor, stranger: User) -> None:
    both = make_person("ren", "reviewer", "curator")

    page = client_for(both).get("/").text

    assert "To review" in page and "To verify" in page
    assert "You have no role yet" in client_for(stranger).get("/").text


def test_unchanged_page_answers_nothing(as_reviewer: Client, second_reviewer: User) -> None:
    seen = as_reviewer.get("/").context["seen"]
    assert as_reviewer.get("/", {"seen": seen}, headers=HTMX).status_code == 204

    review.take_in(make_run(by=second_reviewer, statement="Drain node 7").pk)

    changed = as_reviewer.get("/", {"seen": seen}, headers=HTMX)
    assert changed.status_code == 200 and "Drain node 7" in changed.text
    # The update keeps the text that the user has typed into the field.
    assert "<textarea" not in changed.text


@pytest.mark.slow
def test_following_costs_less_than_opening(client_for: ClientFor, reviewer: User) -> None:
    everything = make_person("ren", "reviewer", "curator", "manager", "administrator")
    client = client_for(everything)
    run = make_run(by=everything)
    client.get(reverse("run-detail", args=[run.pk]))
    opened = count_queries(client, "/")

    with CaptureQueriesContext(connection) as followed:
        assert "1 updated" not in client.get("/", headers=HTMX).text
    assert len(followed) <= opened - 15, f"{opened} opened, {len(followed)} followed"

    item = review.take_in(run.pk)
    client.get(reverse("run-detail", args=[run.pk]))
    Item.objects.filter(pk=item.pk).update(state="closed")
    assert "1 updated" in client.get("/", headers=HTMX).text


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow(
    client_for: ClientFor, manager: User, reviewer: User, second_reviewer: User
) -> None:
    everything = make_person("ren", "reviewer", "curator", "manager", "administrator")
    client = client_for(everything)

    def add(number: int) -> None:
        cache.clear()
        study = make_study(by=manager, reviewers=[everything], items=2, name=f"Study {number}")
        Item.objects.filter(campaign=study).update(disputed=True)
        review.take_in(make_run(by=second_reviewer, statement=f"Statement {number}").pk)
        bad = make_version(f"Entry {number}", script=f"ls {number}\n")
        catalog.suspend(bad.entry, reason="Worse.", by=everything)

    add(0)
    few = count_queries(client, "/")
    for number in range(1, 3):
        add(number)

    assert count_queries(client, "/") == few
    print(f"home of somebody with every role: {few} queries")
    assert few <= 60
