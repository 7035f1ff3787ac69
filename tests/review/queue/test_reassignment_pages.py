"""The page and the API of who has which item: assigned, taken over, sent back, by managers alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from review import services
from review.models import Assignment, Campaign, Item, SentBack
from tests.keys import shown
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study

ClientFor = Callable[[User], Client]


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    return make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1)


@pytest.fixture
def done(study: Campaign, reviewer: User) -> Assignment:
    """`reviewer` is through with the only item."""
    claimed = services.claim_next(study, by=reviewer)
    assert claimed is not None
    for value in (0, 2, 1):
        score_next(claimed.item, reviewer, value)
    return Assignment.objects.get()


def post(client: Client, name: str, *keys: int, **values: object) -> tuple[int, str]:
    answer = client.post(reverse(name, args=keys), values, follow=True)
    return answer.status_code, answer.text


def test_the_page_sends_back_with_a_reason(
    done: Assignment, manager: User, client_for: ClientFor
) -> None:
    client, keys = client_for(manager), (done.item_id, done.pk)
    assert "Send back" in client.get(reverse("item-hands", args=[done.item_id])).text
    status, page = post(client, "item-send-back", *keys, why=" ")
    assert status == 422 and "Say what to look at again" in page and not SentBack.objects.exists()
    status, page = post(client, "item-send-back", *keys, why="Line 3?")
    assert status == 200 and SentBack.objects.get().why == "Line 3?"
    status, page = post(client, "item-send-back", *keys, why="Line 4?")
    assert status == 409 and "Line 4?</textarea>" in page and SentBack.objects.count() == 1


def test_the_page_takes_over_for_somebody_or_for_whoever_comes_next(
    held: Assignment, manager: User, second_reviewer: User, client_for: ClientFor
) -> None:
    client, keys = client_for(manager), (held.item_id, held.pk)
    status, page = post(client, "item-take-over", *keys, to="rolf", why="")
    assert status == 422 and "Say why" in page and '<option value="rolf" selected>' in page
    status, page = post(client, "item-take-over", *keys, to="rolf", why="On leave")
    assert status == 200 and "It comes first when Rolf asks for work." in page
    taken = Assignment.objects.get(reviewer=second_reviewer)
    assert (taken.state, taken.reason) == ("waiting", "take_over")
    status, page = post(client, "item-take-over", *keys, to="rolf", why="Again")
    assert status == 409 and "no longer" in page
    status, _page = post(client, "item-take-over", held.item_id, taken.pk, to="", why="Enough")
    assert status == 200 and Item.objects.get(pk=held.item_id).places == 1


def test_the_page_assigns_by_name(
    item: Item, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    status, page = post(client, "item-assign", item.pk, to="nobody")
    assert status == 422 and "Choose one of the people" in page
    assert post(client, "item-assign", item.pk, to="rita")[0] == 200
    assert Assignment.objects.get().reviewer == reviewer
    assert post(client, "item-assign", item.pk, to="rita")[0] == 409


def test_in_a_study_only_its_members_are_offered(
    study: Campaign, manager: User, client_for: ClientFor
) -> None:
    from tests.people import make_person

    make_person("out", "reviewer")
    item = study.items.get()
    page = client_for(manager).get(reverse("item-hands", args=[item.pk])).text
    assert 'value="rita"' in page and 'value="out"' not in page
    assert post(client_for(manager), "item-assign", item.pk, to="out")[0] == 422


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "needs_assignment"),
    [("item-assign", False), ("item-take-over", True), ("item-send-back", True)],
)
def test_reviewers_and_curators_hand_nothing_to_anybody(
    done: Assignment,
    reviewer: User,
    curator: User,
    manager: User,
    client_for: ClientFor,
    name: str,
    needs_assignment: bool,
) -> None:
    keys = [done.item_id, done.pk] if needs_assignment else [done.item_id]
    for person in (reviewer, curator):
        assert client_for(person).get(reverse("item-hands", args=[done.item_id])).status_code == 403
        assert post(client_for(person), name, *keys, to="rolf", why="mine")[0] == 403
    assert client_for(manager).get(reverse("item-hands", args=[done.item_id])).status_code == 200
    assert Assignment.objects.count() == 1 and not SentBack.objects.exists()


@pytest.mark.slow
def test_the_api_does_the_same(
    done: Assignment, manager: User, reviewer: User, client_for: ClientFor
) -> None:
    client, base = client_for(manager), "/api/v1/assignments/"

    def send(path: str, **body: object) -> int:
        return client.post(base + path, body, content_type="application/json").status_code

    (listed,) = client.get(base, {"item": shown(done.item)}).json()["results"]
    assert (listed["reviewer"], listed["state"]) == ("rita", "submitted")
    assert send(f"{done.pk}/send-back/", why="") == 422
    assert send(f"{done.pk}/send-back/", why="Line 3?") == 201
    assert send(f"{done.pk}/take-over/", why="On leave", reviewer="rolf") == 204
    assert send("", item=shown(done.item), reviewer="rolf") == 409
    assert send("", item=shown(done.item), reviewer="nobody") == 404
    assert client_for(reviewer).get(base).status_code == 403


def test_the_number_of_queries_does_not_grow_with_who_had_it(
    done: Assignment,
    manager: User,
    second_reviewer: User,
    client_for: ClientFor,
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    client, url = client_for(manager), reverse("item-hands", args=[done.item_id])
    client.get(url)
    for _ in range(5):
        Assignment.objects.create(item=done.item, reviewer=second_reviewer, state="released")
    with django_assert_max_num_queries(12):  # type: ignore[attr-defined]
        assert client.get(url).text.count("hands-who") == 6
