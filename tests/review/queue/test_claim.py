"""Tests that each claimed item is assigned to one reviewer, in order, and to no more reviewers than it needs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.errors import BadInput, NotAllowedNow, Stale
from pipeline import services as pipeline
from pipeline.models import Run
from review import services
from review.campaigns.services import states
from review.models import Assignment, Campaign, Item
from review.queue import intake
from review.queue.intake import send_to_queue
from tests.keys import shown
from tests.make import make_run
from tests.people import make_person
from tests.review.desk.test_decide import decide
from tests.review.maker import ClientFor, make_study


def test_only_runs_of_a_page_are_taken_in_once(db: None) -> None:
    run = make_run()
    assert services.take_in(run.pk) is not None
    assert services.take_in(run.pk) is None
    assert services.take_in_missed() == 0
    assert Item.objects.count() == 1
    for origin in (Run.Origin.COMMAND, Run.Origin.CAMPAIGN, Run.Origin.IMPORTED):
        assert services.take_in(make_run(origin=origin).pk) is None, origin


def test_reviewer_gets_item_of_sweep(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()

    def send_after_the_sweep(given: Run) -> Item | None:
        assert services.take_in_missed() == 1
        return send_to_queue(given)

    monkeypatch.setattr(intake, "send_to_queue", send_after_the_sweep)
    assert services.item_of_run(run.pk) == Item.objects.get()


def test_graver_items_come_first_and_those_used_without_review_before_all(
    put_in_queue: Callable[..., Item], reviewer: User, db: None
) -> None:
    ordinary = put_in_queue()
    grave = put_in_queue()
    grave.run.action.severity = 1
    grave.run.action.save()
    Item.objects.filter(pk=grave.pk).update(priority=3)
    used = put_in_queue()
    pipeline.use_unreviewed(used.run.drafts.get(), reason="the site is down", by=reviewer)
    services.raise_priority(used.run_id)
    order = []
    for name in ("a", "b", "c"):
        assignment = services.claim_next(services.live_queue(), by=make_person(name, "reviewer"))
        order.append(assignment.item_id)
    assert order == [used.pk, grave.pk, ordinary.pk]


def test_held_item_is_exclusive(held: Assignment, reviewer: User, second_reviewer: User) -> None:
    again = services.claim_next(services.live_queue(), by=reviewer)
    assert again is not None and again.pk == held.pk
    assert services.claim_next(services.live_queue(), by=second_reviewer) is None
    with pytest.raises(NotAllowedNow):
        services.claim_item(held.item, by=second_reviewer)


def test_nobody_reviews_what_they_wrote(item: Item, reviewer: User, second_reviewer: User) -> None:
    pipeline.add_edited_draft(item.run.drafts.get(), script="ls /var/tmp/exports\n", by=reviewer)
    assert services.claim_next(services.live_queue(), by=reviewer) is None
    assert services.claim_next(services.live_queue(), by=second_reviewer) is not None


def test_closed_campaign_gives_nothing(item: Item, reviewer: User) -> None:
    Campaign.objects.update(state="paused")
    with pytest.raises(NotAllowedNow):
        services.claim_next(services.live_queue(), by=reviewer)


def test_expired_lease_keeps_text(held: Assignment, reviewer: User, second_reviewer: User) -> None:
    services.save_scratch(held.item, by=reviewer, fields={"comment": "first tab"}, revision=0)
    with pytest.raises(Stale):
        services.save_scratch(held.item, by=reviewer, fields={"comment": "second tab"}, revision=0)
    Assignment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert services.expire_leases() == 1
    assert services.expire_leases() == 0
    assert services.claim_next(services.live_queue(), by=second_reviewer) is not None
    assert services.open_item(held.item, reviewer).scratch.fields == {"comment": "first tab"}


def test_skipped_item_moves_on(held: Assignment, reviewer: User, second_reviewer: User) -> None:
    with pytest.raises(BadInput):
        services.give_back(held, state=Assignment.State.SKIPPED)
    services.give_back(held, state=Assignment.State.SKIPPED, why="not my field")
    assert services.claim_next(services.live_queue(), by=reviewer) is None
    assert services.claim_next(services.live_queue(), by=second_reviewer) is not None


def test_the_queue_page_shows_what_waits_and_no_verdict(flagged: Item, as_reviewer: Client) -> None:
    page = as_reviewer.get(reverse("queue")).text
    assert flagged.run.action.statement in page
    assert "flagged" not in page.lower() and "incorrect" not in page.lower()


def test_the_api_lists_the_queue_most_urgent_first_with_filters_and_pages(
    put_in_queue: Callable[..., Item], as_reviewer: Client, as_stranger: Client
) -> None:
    ordinary, grave = put_in_queue(), put_in_queue()
    Item.objects.filter(pk=grave.pk).update(priority=3)
    listed = as_reviewer.get("/api/v1/queue/").json()
    assert [row["id"] for row in listed["results"]] == [shown(grave), shown(ordinary)]
    assert "verdict" not in str(listed)
    filtered = as_reviewer.get("/api/v1/queue/?priority__gte=3").json()
    assert [row["id"] for row in filtered["results"]] == [shown(grave)]
    first = as_reviewer.get("/api/v1/queue/?limit=1").json()
    assert len(first["results"]) == 1 and first["next"]
    claimed = as_reviewer.post("/api/v1/queue/claim/").json()
    assert (claimed["id"], claimed["yours"], claimed["assessment"]) == (shown(grave), True, None)
    assert as_stranger.get("/api/v1/queue/").status_code == 403


def test_study_run_is_not_queued(reviewer: User, manager: User, client_for: ClientFor) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=1)
    run = study.items.get().run
    with pytest.raises(NotAllowedNow, match="study"):
        services.item_of_run(run.pk)
    assert client_for(reviewer).post(f"/runs/{run.pk}/review/").status_code == 409
    assert not Item.objects.filter(campaign__kind=Campaign.Kind.LIVE).exists()
    states.move_campaign(study, Campaign.State.CLOSED, by=manager)
    assert services.item_of_run(run.pk) is not None


HTMX = {"HX-Request": "true"}


def test_run_page_follows_review(held: Assignment, reviewer: User, as_manager: Client) -> None:
    run = held.item.run
    page = as_manager.get(reverse("run-detail", args=[run.pk]))
    assert 'hx-trigger="every 20s"' in page.text
    status, seen = reverse("run-status", args=[run.pk]), {"seen": page.context["seen"]}
    assert as_manager.get(status, seen, headers=HTMX).status_code == 204
    decide(held.item, by=reviewer, kind="reject", reason="It deletes too much.")
    told = as_manager.get(status, seen, headers=HTMX)
    assert told.status_code == 200 and "It deletes too much." in told.text
    assert "hx-trigger" not in told.text
    assert "Rejected" in told.headers["HX-Trigger"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_requests_for_the_next_item_at_once_claim_one_item() -> None:
    """Use real connections, in the queue and in a study. Each request finds the claim of the previous request."""
    reviewer, manager = make_person("rita", "reviewer"), make_person("mona", "manager")
    for _number in range(5):
        services.take_in(make_run().pk)
    study = make_study(by=manager, reviewers=[reviewer], items=5)

    def claim(campaign: Campaign) -> int | None:
        given = services.claim_next(campaign, by=reviewer)
        connection.close()
        return given and given.item_id

    for campaign in (services.live_queue(), study):
        with ThreadPoolExecutor(6) as pool:
            items = set(pool.map(claim, [campaign] * 6))
        held = Assignment.objects.filter(item__campaign=campaign)
        assert [one.item_id for one in held] == [*items], campaign
