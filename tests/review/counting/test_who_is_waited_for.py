"""Whom a final score waits for: not for who let go of the item, but for who was called in for its text."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.errors import NotAllowedNow
from pipeline.models import Feedback
from review import services
from review.campaigns.services import adjudication
from review.counting.contributions import bring, read_kept
from review.counting.facts import read_facts
from review.models import Assignment, Campaign, Exposure, Item, Score
from review.study import FinalScore, ItemPattern
from tests.make import imported_configuration
from tests.people import make_person
from tests.review.desk.test_desk import score_next
from tests.review.maker import add_item, make_study
from tests.review.queue.test_studies import give

pytestmark = pytest.mark.django_db


@pytest.fixture
def third(db: None) -> User:
    return make_person("third", "reviewer")


@pytest.fixture
def people(reviewer: User, second_reviewer: User, third: User) -> list[User]:
    return [reviewer, second_reviewer, third]


def pattern_of(item: Item) -> ItemPattern:
    return ItemPattern.from_text(read_kept(bring(read_facts([item.pk]), item.pk).text).pattern)


def take(campaign: Campaign, by: User) -> Item:
    assignment = services.claim_next(campaign, by=by)
    assert assignment is not None
    return assignment.item


@pytest.mark.slow
def test_a_reviewer_whose_lease_ran_out_holds_up_no_later_stage(
    manager: User, people: list[User]
) -> None:
    campaign = make_study(by=manager, reviewers=people, items=1, overlap=2)
    item = take(campaign, people[0])
    score_next(item, people[0], 0)
    Assignment.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    assert services.expire_leases() == 1
    give(take(campaign, people[1]), people[1], 0, 2, 2)
    # As long as somebody may take the place, it is pending.
    assert pattern_of(item).refined is FinalScore.PENDING
    give(take(campaign, people[2]), people[2], 0, 2, 2)

    found = pattern_of(item)
    assert (found.script, found.feedback, found.refined) == (
        *(FinalScore.INCORRECT, FinalScore.CORRECT, FinalScore.CORRECT),
    )
    item.refresh_from_db()
    assert item.state == Item.State.CLOSED
    assert services.claim_next(campaign, by=people[0]) is None


def test_who_saw_the_verdict_between_two_stages_hands_the_item_on(
    manager: User, people: list[User]
) -> None:
    campaign = make_study(by=manager, reviewers=people, items=1)
    item = take(campaign, people[0])
    score_next(item, people[0], 0)
    Exposure.objects.create(person=people[0], run=item.run, what="run", where="run-detail")
    for value in (2, 2):
        score_next(item, people[0], value)
    item.refresh_from_db()
    assert (item.state, item.done, item.places) == ("open", 0, 1)
    assert pattern_of(item).refined is FinalScore.PENDING

    give(take(campaign, people[1]), people[1], 0, 2, 0)
    item.refresh_from_db()
    assert (item.state, item.done, item.places) == ("closed", 1, 0)
    assert pattern_of(item).refined is FinalScore.INCORRECT


@pytest.fixture
def arms(manager: User, people: list[User]) -> tuple[Campaign, Item, Item]:
    """One statement, two arms whose first scripts are the same and passed; two reviewers for each."""
    campaign = make_study(
        by=manager, reviewers=people, items=0, is_open=False, overlap=2, order="oldest"
    )
    one, other = (add_item(campaign, name, verdict="correct") for name in ("one", "other"))
    Item.objects.filter(pk=other.pk).update(case=one.case, configuration=imported_configuration())
    first = one.run.drafts.get()  # type: ignore[union-attr]
    other.run.drafts.update(script=first.script, sha256=first.sha256)  # type: ignore[union-attr]
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    campaign.refresh_from_db()
    return campaign, one, Item.objects.get(pk=other.pk)


@pytest.mark.slow
def test_who_is_called_in_for_a_text_is_waited_for_in_every_arm(
    arms: tuple[Campaign, Item, Item], manager: User, people: list[User]
) -> None:
    campaign, one, other = arms
    for person, value in zip(people, (0, 2), strict=False):
        score_next(take(campaign, person), person, value)
    assert [pattern_of(item).script for item in (one, other)] == [FinalScore.UNRESOLVED] * 2

    adjudication.call_in(one, people[2], by=manager)
    assert [pattern_of(item).script for item in (one, other)] == [FinalScore.PENDING] * 2
    with pytest.raises(NotAllowedNow):
        adjudication.call_in(other, people[2], by=manager)
    score_next(take(campaign, people[2]), people[2], 2)

    assert [pattern_of(item).script for item in (one, other)] == [FinalScore.CORRECT] * 2


@pytest.mark.slow
def test_who_has_scored_the_text_in_another_arm_is_not_shown_it_again(
    arms: tuple[Campaign, Item, Item], manager: User, people: list[User]
) -> None:
    campaign, one, other = arms
    draft = other.run.drafts.get()  # type: ignore[union-attr]
    Feedback.objects.create(draft=draft, text="- Else.", words=1, points=1)
    for person, value in zip(people, (0, 2), strict=False):
        score_next(take(campaign, person), person, value)
    assert take(campaign, people[2]) == other
    for value in (0, 2):
        score_next(other, people[2], value)

    adjudication.call_in(one, people[2], by=manager)
    assert services.claim_next(campaign, by=people[2]) is None
    copy = Score.objects.get(item=one, reviewer=people[2])
    assert (copy.value, "copied_from" in copy.visible) == (0, True)
    one.refresh_from_db()
    assert (one.state, one.done) == ("closed", 3)


def test_without_hidden_verdicts_a_correction_counts(manager: User, reviewer: User) -> None:
    campaign = make_study(
        by=manager, reviewers=[reviewer], items=0, is_open=False, hides_verdict=False
    )
    item = add_item(campaign, "one", verdict="correct")
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    campaign.refresh_from_db()
    score_next(take(campaign, reviewer), reviewer, 2)
    seen = services.open_item(Item.objects.get(pk=item.pk), reviewer).steps[0].seen
    change = services.ScoreInput(stage="script", value=0, seen=seen or 0)
    services.submit_score(item, change, by=reviewer)

    assert pattern_of(item).script is FinalScore.INCORRECT


def test_without_hidden_verdicts_what_a_later_stage_showed_makes_a_change_not_count(
    manager: User, reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, hides_verdict=False)
    item = take(campaign, reviewer)
    give(item, reviewer, 0, 2, 2)
    seen = services.open_item(Item.objects.get(pk=item.pk), reviewer).steps[0].seen
    change = services.ScoreInput(stage="script", value=2, seen=seen or 0)
    services.submit_score(item, change, by=reviewer)

    assert pattern_of(item).script is FinalScore.INCORRECT
