"""Tests for the reviewers that a final score still needs, and for the count of items that need a recount."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from core.errors import NotAllowedNow
from pipeline.models import Feedback
from review import services
from review.campaigns.services import adjudication, rules
from review.counting import tallies
from review.counting.contributions import bring, read_kept
from review.counting.counts import read_counts
from review.counting.facts import read_facts
from review.models import Assignment, Campaign, Exposure, Item, Score, TallyDue
from review.study import FinalScore, ItemPattern
from tests.people import make_person
from tests.review.desk.test_desk import score_next
from tests.review.maker import Arms, add_item, make_study, make_two_arms
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
    return assignment.item


def test_expired_lease_blocks_no_later_stage(manager: User, people: list[User]) -> None:
    campaign = make_study(by=manager, reviewers=people, items=1, overlap=2)
    item = take(campaign, people[0])
    score_next(item, people[0], 0)
    Assignment.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    assert services.expire_leases() == 1
    give(take(campaign, people[1]), people[1], 0, 2, 2)
    # The score is pending as long as another reviewer can claim the place.
    assert pattern_of(item).refined is FinalScore.PENDING
    give(take(campaign, people[2]), people[2], 0, 2, 2)

    found = pattern_of(item)
    assert (found.script, found.feedback, found.refined) == (
        *(FinalScore.INCORRECT, FinalScore.CORRECT, FinalScore.CORRECT),
    )
    item.refresh_from_db()
    assert item.state == Item.State.CLOSED
    assert services.claim_next(campaign, by=people[0]) is None


def test_reviewer_who_saw_verdict_passes_item_on(manager: User, people: list[User]) -> None:
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
def arms(manager: User, people: list[User]) -> Arms:
    return make_two_arms(by=manager, reviewers=people, overlap=2)


def test_tie_breaker_is_awaited_in_all_arms(arms: Arms, manager: User, people: list[User]) -> None:
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


def test_text_scored_in_other_arm_is_skipped(arms: Arms, manager: User, people: list[User]) -> None:
    campaign, one, other = arms
    draft = other.run.drafts.get()
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


def test_open_verdicts_allow_correction_until_next_stage(manager: User, reviewer: User) -> None:
    """The passed script is corrected from 2 to 0, and the flagged script from 0 to 2 after its feedback was shown."""
    campaign = make_study(
        by=manager,
        reviewers=[reviewer],
        items=1,
        is_open=False,
        hides_verdict=False,
        order="oldest",
    )
    add_item(campaign, "one", verdict="correct")
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    campaign.refresh_from_db()
    for values, corrected in (((0, 2, 2), 2), ((2,), 0)):
        item = take(campaign, reviewer)
        give(item, reviewer, *values)
        seen = services.open_item(Item.objects.get(pk=item.pk), reviewer).steps[0].seen
        change = services.ScoreInput(stage="script", value=corrected, seen=seen or 0)
        services.submit_score(item, change, by=reviewer)
        assert pattern_of(item).script is FinalScore.INCORRECT, values


@pytest.fixture
def study(manager: User, reviewer: User) -> Campaign:
    """Return a study with five items, none of which needs a recount. Another campaign's item has a key between
    theirs."""
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    add_item(rules.create_campaign("Other", by=manager), "x")
    for number in range(2, 5):
        add_item(campaign, f"case-{number}")
    tallies.recount(campaign)
    return campaign


def keys(campaign: Campaign) -> list[int]:
    return list(campaign.items.order_by("pk").values_list("pk", flat=True))


def count(campaign: Campaign) -> int:
    """Return the number of items in the campaign's counts."""
    return sum(sum(one.items.values()) for one in read_counts(campaign).values())


def test_keys_that_follow_each_other_are_one_row(study: Campaign) -> None:
    tallies.note_due(study, reversed(keys(study)))
    due = TallyDue.objects.filter(campaign=study).order_by("pk")
    first, second, *others = keys(study)
    assert sorted((row.first, row.last) for row in due) == [
        (first, second),
        (others[0], others[-1]),
    ]
    assert tallies.estimate_due(study) == 5
    tallies.note_due(study, [second])
    assert TallyDue.objects.get(item=second).first is None
    assert tallies.estimate_due(study) == 6


def test_all_items_are_counted(study: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "SLICE", 2)
    study.tallies.all().delete()
    study.items.update(pattern="")
    # One range covers all keys, including the other campaign's item. A second range covers one item.
    own = keys(study)
    TallyDue.objects.create(campaign=study, first=own[0], last=own[-1])
    tallies.note_due(study, own[:1])
    other = TallyDue.objects.exclude(campaign=study).count()
    assert tallies.count_due(study, most=3) == 3
    assert tallies.estimate_due(study) > 0
    tallies.count_due(study)
    assert count(study) == 5
    assert not TallyDue.objects.filter(campaign=study).exists()
    assert TallyDue.objects.exclude(campaign=study).count() == other


def test_what_is_gone_meanwhile_holds_up_nothing(study: Campaign) -> None:
    last = keys(study)[-1]
    TallyDue.objects.create(campaign=study, first=last + 10, last=last + 20)
    tallies.note_due(study, keys(study))
    assert tallies.count_due(study) == 5
    assert not TallyDue.objects.filter(campaign=study).exists()


def test_a_row_names_an_item_or_a_span(study: Campaign) -> None:
    for wrong in ({}, {"first": 1}, {"item_id": keys(study)[0], "first": 1, "last": 2}):
        with pytest.raises(IntegrityError), transaction.atomic():
            TallyDue.objects.create(campaign=study, **wrong)
