"""Managers give items to certain people, take them over, and send them back."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from core.errors import BadInput, NotAllowedNow
from review import services
from review.models import Assignment, Item, Score, SentBack
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study


@pytest.mark.slow
def test_an_item_assigned_by_name_comes_first_and_takes_a_place(
    manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=5)
    wanted = campaign.items.order_by("pk").last()
    assert wanted is not None
    services.assign(wanted, to=reviewer, by=manager)
    with pytest.raises(NotAllowedNow):
        services.assign(wanted, to=second_reviewer, by=manager)
    claimed = services.claim_next(campaign, by=reviewer)
    assert claimed is not None
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


def test_an_item_sent_back_comes_first_and_old_scores_are_kept(
    manager: User, reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    first = services.claim_next(campaign, by=reviewer)
    assert first is not None
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
    assert assignment is not None
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
