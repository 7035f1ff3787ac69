"""Answers to one statement that come in another sitting: when that is, and what the reviewer is told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from pipeline.models import Action
from review import services
from review.models import Assignment, Campaign, Item, Score
from review.queue.overview.later_items import read_later
from tests.make import imported_configuration
from tests.review.desk.test_desk import score_next
from tests.review.maker import add_item, let_time_pass, make_study

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User], Client]


@pytest.fixture
def arms(manager: User, reviewer: User) -> tuple[Campaign, Item, Item]:
    """One statement, two arms with scripts of their own; the first that is handed out."""
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    one, other = (add_item(campaign, name, verdict="correct") for name in ("one", "other"))
    Item.objects.filter(pk=other.pk).update(case=one.case, configuration=imported_configuration())
    other.run.drafts.update(script="pwd\n", sha256="1" * 64)  # type: ignore[union-attr]
    Campaign.objects.filter(pk=campaign.pk).update(state="open", order="oldest")
    campaign.refresh_from_db()
    return campaign, one, other


def work_on(campaign: Campaign, by: User, *, items: int, minutes: int) -> None:
    """Score so many more items, with so much time before each."""
    for number in range(items):
        item = add_item(campaign, f"more-{number}", verdict="correct")
        let_time_pass(minutes)
        held = services.claim_next(campaign, by=by)
        assert held is not None and held.item == item
        score_next(item, by, 2)


def test_the_other_arm_comes_half_an_hour_after_the_last_score(
    arms: tuple[Campaign, Item, Item], reviewer: User
) -> None:
    campaign, one, _other = arms
    assert read_later([campaign], [reviewer.pk]) == {}
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)

    assert services.claim_next(campaign, by=reviewer) is None
    later = read_later([campaign], [reviewer.pk])[campaign.pk, reviewer.pk]
    ended = one.assignments.get().ended_at
    assert ended is not None
    assert (later.count, later.at) == (1, ended + timedelta(minutes=30))


def test_who_works_on_without_a_pause_is_in_one_sitting(
    arms: tuple[Campaign, Item, Item], reviewer: User
) -> None:
    campaign, one, other = arms
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    # Forty minutes later, and never half an hour without a score.
    work_on(campaign, reviewer, items=2, minutes=20)

    assert services.claim_next(campaign, by=reviewer) is None
    later = read_later([campaign], [reviewer.pk])[campaign.pk, reviewer.pk]
    assert later.at > timezone.now() + timedelta(minutes=29)
    let_time_pass()
    assert read_later([campaign], [reviewer.pk]) == {}
    held = services.claim_next(campaign, by=reviewer)
    assert held is not None and held.item == other


def test_two_cases_with_the_same_statement_do_not_come_in_one_sitting(
    manager: User, reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False, order="oldest")
    one, other = (add_item(campaign, name, verdict="correct") for name in ("one", "other"))
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    campaign.refresh_from_db()
    Action.objects.filter(cases__campaign=campaign).update(statement_sha256="7" * 64)
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)

    assert services.claim_next(campaign, by=reviewer) is None
    assert read_later([campaign], [reviewer.pk])[campaign.pk, reviewer.pk].count == 1
    let_time_pass()
    held = services.claim_next(campaign, by=reviewer)
    assert held is not None and held.item == other


@pytest.mark.parametrize(
    ("days_ago", "is_later"), [pytest.param(1, False, id="of yesterday"), pytest.param(0, True)]
)
def test_what_came_from_a_file_is_work_of_when_it_was_done(
    arms: tuple[Campaign, Item, Item], reviewer: User, days_ago: int, is_later: bool
) -> None:
    campaign, one, other = arms
    Assignment.objects.create(
        item=one,
        reviewer=reviewer,
        state=Assignment.State.SUBMITTED,
        reason=Assignment.Reason.IMPORTED,
        ended_at=timezone.now() - timedelta(days=days_ago),
    )
    Item.objects.filter(pk=one.pk).update(places=0)
    assert bool(read_later([campaign], [reviewer.pk])) is is_later
    held = services.claim_next(campaign, by=reviewer)
    assert (held is None) if is_later else (held is not None and held.item == other)


@pytest.mark.slow
def test_a_time_is_told_where_nothing_else_waits(
    arms: tuple[Campaign, Item, Item], reviewer: User, client_for: ClientFor
) -> None:
    campaign, one, _other = arms
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    at = timezone.localtime(Score.objects.latest("pk").at + timedelta(minutes=30))
    page = client_for(reviewer).get(f"/studies/{campaign.pk}/").content.decode()
    assert f"1 more at {at:%H:%M}" in page
    # What waits is scored first, and then the time would be another.
    add_item(campaign, "more", verdict="correct")
    page = client_for(reviewer).get(f"/studies/{campaign.pk}/").content.decode()
    assert "1 more after a pause of 30 minutes" in page
