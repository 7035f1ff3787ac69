"""Tests that managers can assign, take over and return items through the services, the page and the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import reverse

from core.errors import BadInput, NotAllowedNow
from review import services
from review.models import Assignment, Campaign, Item, Score, SentBack
from tests.keys import shown
from tests.people import make_person
from tests.review.desk.test_desk import score_next
from tests.review.maker import ClientFor, make_study


def test_assigned_item_comes_first(manager: User, reviewer: User, second_reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=5)
    wanted = campaign.items.order_by("pk").last()
    services.assign(wanted, to=reviewer, by=manager)
    with pytest.raises(NotAllowedNow):
        services.assign(wanted, to=second_reviewer, by=manager)
    claimed = services.claim_next(campaign, by=reviewer)
    assert (claimed.item, claimed.reason, claimed.state) == (wanted, "named", "active")


def test_only_managers_assign_and_only_to_reviewers_of_the_campaign(
    manager: User, reviewer: User, second_reviewer: User, stranger: User
) -> None:
    item = make_study(by=manager, reviewers=[reviewer], items=1).items.get()
    with pytest.raises(PermissionDenied):
        services.assign(item, to=reviewer, by=reviewer)
    for nobody in (stranger, second_reviewer):
        with pytest.raises(BadInput):
            services.assign(item, to=nobody, by=manager)
    assert not Assignment.objects.exists()


def test_a_manager_takes_an_item_over(
    held: Assignment, manager: User, reviewer: User, second_reviewer: User
) -> None:
    services.save_scratch(held.item, by=reviewer, fields={"why": "my words"}, revision=0)
    with pytest.raises(BadInput):
        services.take_over(held, to=second_reviewer, by=manager, why=" ")
    with pytest.raises(PermissionDenied):
        services.take_over(held, to=second_reviewer, by=second_reviewer, why="mine")
    taken = services.take_over(held, to=second_reviewer, by=manager, why="on leave")
    held.refresh_from_db()
    held.item.refresh_from_db()
    assert (held.state, taken.reason, held.item.places) == ("released", "take_over", 0)
    assert held.item.scratches.get().fields == {"why": "my words"}
    with pytest.raises(NotAllowedNow):
        services.keep_alive(held, fence=held.fence)
    claimed = services.claim_next(services.live_queue(), by=second_reviewer)
    assert claimed == taken


def test_item_sent_back_comes_first_and_old_scores_are_kept(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    first = services.claim_next(campaign, by=reviewer)
    for value in (0, 2, 1):
        score_next(first.item, reviewer, value)
    first.refresh_from_db()
    with pytest.raises(BadInput):
        services.send_back(first, why="", by=manager)
    with pytest.raises(PermissionDenied):
        services.send_back(first, why="again", by=reviewer)
    services.send_back(first, why="Look at line 3.", by=manager)
    assert (campaign.items.get(pk=first.item_id).state, SentBack.objects.count()) == ("open", 1)
    again = services.claim_next(campaign, by=reviewer)
    assert again == first
    refined = first.item.run.drafts.get(kind="refined")
    services.submit_score(
        first.item, services.ScoreInput(stage="refined", value=2, seen=refined.pk), by=reviewer
    )
    first.refresh_from_db()
    assert first.state == "submitted" and SentBack.objects.get().answered_at is not None
    assert list(Score.objects.filter(stage="refined").values_list("value", "current")) == [
        (1, False),
        (2, True),
    ]


def test_what_was_sent_back_may_stand(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    assignment = services.claim_next(campaign, by=reviewer)
    with pytest.raises(NotAllowedNow):
        services.send_back(assignment, why="too early", by=manager)
    for value in (0, 2, 1):
        score_next(assignment.item, reviewer, value)
    assignment.refresh_from_db()
    services.send_back(assignment, why="Sure?", by=manager)
    services.claim_next(campaign, by=reviewer)
    services.confirm_scores(campaign.items.get(), by=reviewer)
    item = Item.objects.get(campaign=campaign)
    assert (item.state, item.done, Score.objects.count()) == ("closed", 1, 3)
    with pytest.raises(NotAllowedNow):
        services.confirm_scores(item, by=reviewer)


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    return make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1)


@pytest.fixture
def done(study: Campaign, reviewer: User) -> Assignment:
    """Return the assignment of the only item, which `reviewer` has finished."""
    claimed = services.claim_next(study, by=reviewer)
    for value in (0, 2, 1):
        score_next(claimed.item, reviewer, value)
    return Assignment.objects.get()


def post(client: Client, name: str, *keys: int, **values: object) -> tuple[int, str]:
    answer = client.post(reverse(name, args=keys), values, follow=True)
    return answer.status_code, answer.text


def test_the_page_sends_back_with_a_reason(done: Assignment, as_manager: Client) -> None:
    client, keys = as_manager, (done.item_id, done.pk)
    assert "Send back" in client.get(reverse("item-hands", args=[done.item_id])).text
    status, page = post(client, "item-send-back", *keys, why=" ")
    assert (
        status == 422
        and "Describe briefly what to review again" in page
        and not SentBack.objects.exists()
    )
    status, page = post(client, "item-send-back", *keys, why="Line 3?")
    assert status == 200 and SentBack.objects.get().why == "Line 3?"
    status, page = post(client, "item-send-back", *keys, why="Line 4?")
    assert status == 409 and "Line 4?</textarea>" in page and SentBack.objects.count() == 1


def test_the_page_takes_over_for_somebody_or_for_whoever_comes_next(
    held: Assignment, manager: User, second_reviewer: User, client_for: ClientFor
) -> None:
    client, keys = client_for(manager), (held.item_id, held.pk)
    status, page = post(client, "item-take-over", *keys, to="rolf", why="")
    assert (
        status == 422
        and "Enter a short reason" in page
        and '<option value="rolf" selected>' in page
    )
    status, page = post(client, "item-take-over", *keys, to="rolf", why="On leave")
    assert status == 200 and "Assigned to Rolf. The item will be first in their queue." in page
    taken = Assignment.objects.get(reviewer=second_reviewer)
    assert (taken.state, taken.reason) == ("waiting", "take_over")
    status, page = post(client, "item-take-over", *keys, to="rolf", why="Again")
    assert status == 409 and "no longer" in page
    status, _page = post(client, "item-take-over", held.item_id, taken.pk, to="", why="Enough")
    assert status == 200 and Item.objects.get(pk=held.item_id).places == 1


def test_the_page_assigns_by_name_and_in_a_study_its_members_only(
    item: Item, study: Campaign, reviewer: User, as_manager: Client
) -> None:
    status, page = post(as_manager, "item-assign", item.pk, to="nobody")
    assert status == 422 and "Choose a reviewer" in page
    assert post(as_manager, "item-assign", item.pk, to="rita")[0] == 200
    assert Assignment.objects.get().reviewer == reviewer
    assert post(as_manager, "item-assign", item.pk, to="rita")[0] == 409

    make_person("out", "reviewer")
    studied = study.items.get()
    page = as_manager.get(reverse("item-hands", args=[studied.pk])).text
    assert 'value="rita"' in page and 'value="out"' not in page
    assert post(as_manager, "item-assign", studied.pk, to="out")[0] == 422


def test_the_api_does_the_same(done: Assignment, as_manager: Client, as_reviewer: Client) -> None:
    client, base = as_manager, "/api/v1/assignments/"

    def send(path: str, **body: object) -> int:
        return client.post(base + path, body, content_type="application/json").status_code

    (listed,) = client.get(base, {"item": shown(done.item)}).json()["results"]
    assert (listed["reviewer"], listed["state"]) == ("rita", "submitted")
    assert send(f"{done.pk}/send-back/", why="") == 422
    assert send(f"{done.pk}/send-back/", why="Line 3?") == 201
    assert send(f"{done.pk}/take-over/", why="On leave", reviewer="rolf") == 204
    assert send("", item=shown(done.item), reviewer="rolf") == 409
    assert send("", item=shown(done.item), reviewer="nobody") == 404
    assert as_reviewer.get(base).status_code == 403


def test_the_number_of_queries_does_not_grow_with_who_had_it(
    done: Assignment,
    second_reviewer: User,
    as_manager: Client,
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    client, url = as_manager, reverse("item-hands", args=[done.item_id])
    client.get(url)
    for _ in range(5):
        Assignment.objects.create(item=done.item, reviewer=second_reviewer, state="released")
    with django_assert_max_num_queries(12):
        assert client.get(url).text.count("hands-who") == 6
