"""Keys that are shown: found again, different for every item, and in no order."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import resolve, reverse

from bench.review.blinding import area
from core.web.public_keys import ITEM, find_key, public_key, read_public
from review.desk.shown_keys import find_draft, name_draft
from tests.review.maker import make_study


def test_each_key_has_one_public_form_and_is_found_by_it() -> None:
    keys = [*range(2_000), 2**40, 2**52 - 1]
    shown = [public_key(ITEM, key) for key in keys]
    assert len(set(shown)) == len(keys) and all(0 <= one < 2**52 for one in shown)
    assert [find_key(ITEM, one) for one in shown] == keys
    assert public_key(ITEM, 7) != public_key("draft", 7)


def test_the_order_and_the_gaps_of_keys_do_not_show() -> None:
    keys = list(range(4_000))
    shown = {key: public_key(ITEM, key) for key in keys}
    later = set(keys[2_000:])
    assert 0.46 < area(shown, later, set(keys)) < 0.54
    # A step of one moves as far as a step of a hundred does.
    near = {key: abs(shown[key + 1] - shown[key]) for key in keys[:2_000]}
    far = {key + 5_000: abs(shown[key + 100] - shown[key]) for key in keys[:2_000]}
    assert 0.46 < area(near | far, set(far), set(near) | set(far)) < 0.54


@pytest.mark.parametrize("text", ["", "x", "-1", "١", "9" * 19, str(2**52)])
def test_what_is_no_key_finds_nothing(text: str) -> None:
    assert read_public(ITEM, text) == 0


def test_an_address_has_the_public_form_and_views_get_the_key() -> None:
    address = reverse("item-review", args=[123])
    assert address == f"/items/{public_key(ITEM, 123)}/" and address.split("/")[2] != "123"
    assert resolve(address).kwargs == {"pk": 123}


@pytest.mark.django_db
def test_a_draft_has_another_name_in_every_item(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    first, second = campaign.items.order_by("pk")
    assert first.run is not None
    key = first.run.drafts.get(number=1).pk
    names = {name_draft(first.pk, key), name_draft(second.pk, key), public_key("draft", key), key}
    assert len(names) == 4
    assert find_draft(first.pk, name_draft(first.pk, key)) == key
