"""Arms of a statement that come later, and when: said to the reviewer and to the manager."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from review import services
from review.models import Assignment, Campaign, Item
from review.queue.spread import items_later, items_later_of_all
from tests.make import imported_configuration
from tests.review.desk.test_desk import score_next
from tests.review.maker import add_item, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def arms(manager: User, reviewer: User) -> tuple[Campaign, Item]:
    """One statement, two arms with scripts of their own; the first that is handed out."""
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    one, other = (add_item(campaign, name, verdict="correct") for name in ("one", "other"))
    Item.objects.filter(pk=other.pk).update(case=one.case, configuration=imported_configuration())
    other.run.drafts.update(script="pwd\n", sha256="1" * 64)  # type: ignore[union-attr]
    Campaign.objects.filter(pk=campaign.pk).update(state="open", order="oldest")
    campaign.refresh_from_db()
    return campaign, one


def test_the_other_arm_comes_half_an_hour_after_the_first(
    arms: tuple[Campaign, Item], reviewer: User
) -> None:
    campaign, one = arms
    assert items_later(campaign, reviewer) is None
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)

    assert services.claim_next(campaign, by=reviewer) is None
    later = items_later(campaign, reviewer)
    had = Assignment.objects.get(item=one, reviewer=reviewer).created_at
    assert later is not None
    assert (later.items, later.at) == (1, had + timedelta(minutes=30))
    assert items_later_of_all(campaign) == {reviewer.pk: later}


def test_once_the_half_hour_is_over_nothing_is_held_back(
    arms: tuple[Campaign, Item], reviewer: User
) -> None:
    campaign, one = arms
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    Assignment.objects.update(created_at=timezone.now() - timedelta(minutes=31))

    assert items_later(campaign, reviewer) is None
    assert services.claim_next(campaign, by=reviewer) is not None
