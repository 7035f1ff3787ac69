"""Tests that in the arms of one statement, an identical script is scored once, and a different one in another
session.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from core.errors import NotAllowedNow
from pipeline.models import Action, Draft, Feedback
from review import services
from review.campaigns.services import adjudication
from review.counting import tallies
from review.counting.counts import read_counts
from review.models import Assignment, Campaign, Exposure, Item, Score
from review.queue.overview.later_items import read_later
from tests.review.desk.test_desk import score_next
from tests.review.maker import Arms, ClientFor, add_item, let_time_pass, make_study, make_two_arms


@pytest.fixture
def arms(manager: User, reviewer: User) -> Arms:
    return make_two_arms(by=manager, reviewers=[reviewer])


def test_scoring_one_arm_scores_other_and_undo_takes_both_back(arms: Arms, reviewer: User) -> None:
    campaign, one, other = arms
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    given, copied = Score.objects.order_by("pk")
    assert (given.item, copied.item, copied.value) == (one, other, 2)
    assert copied.visible["copied_from"] == given.pk and copied.draft != given.draft
    assert set(campaign.items.values_list("state", "done", "places")) == {("closed", 1, 0)}
    assert services.claim_next(campaign, by=reviewer) is None
    assert services.undo_last(campaign, by=reviewer) == one
    assert not Score.objects.filter(current=True).exists()
    other.refresh_from_db()
    assert (other.state, other.done, other.places) == ("open", 0, 1)
    score_next(one, reviewer, 2)
    assert Score.objects.filter(current=True).count() == 2


def test_other_script_or_verdict_counts_on_its_own(arms: Arms, reviewer: User) -> None:
    campaign, one, other = arms
    Exposure.objects.create(person=reviewer, run=other.run, what="run", where="test")
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    assert dict(Score.objects.values_list("item", "blind")) == {one.pk: True, other.pk: False}


def test_arm_showing_more_skips_scored_script(arms: Arms, reviewer: User) -> None:
    campaign, one, other = arms
    draft = other.run.drafts.get()
    Feedback.objects.create(draft=draft, text="- Else.", words=1, points=1)
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 0)
    assert Score.objects.count() == 1
    let_time_pass()
    later = services.claim_next(campaign, by=reviewer)
    assert later is not None and later.item == other
    step = services.open_item(other, reviewer).next_step
    assert step is not None and step.stage == "feedback"


def test_another_script_is_scored_on_its_own(arms: Arms, reviewer: User) -> None:
    campaign, one, other = arms
    Draft.objects.filter(run=other.run).update(sha256="0" * 64)
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    assert Score.objects.count() == 1


def test_a_text_in_two_arms_is_settled_once_and_never_by_a_rater_of_either(
    arms: Arms, manager: User, reviewer: User, second_reviewer: User
) -> None:
    campaign, one, other = arms
    Item.objects.filter(pk__in=(one.pk, other.pk)).update(overlap=2, places=1)
    for item, person, value in ((one, reviewer, 0), (other, second_reviewer, 2)):
        Score.objects.create(
            item=item, reviewer=person, stage="script", value=value, draft=item.run.drafts.get()
        )
    tallies.note_due(campaign, [one.pk, other.pk])
    tallies.count_due(campaign)
    (waits,) = adjudication.disputed_items(campaign)
    (difference,) = adjudication.differences(other)
    assert waits == one
    assert [score.value for score in difference.scores] == [0, 2]
    second_reviewer.groups.add(*manager.groups.all())
    rater = User.objects.get(pk=second_reviewer.pk)
    with pytest.raises(PermissionDenied):
        adjudication.adjudicate(one, stage="script", value=2, why="So.", by=rater)

    adjudication.adjudicate(one, stage="script", value=2, why="It lists all.", by=manager)
    with pytest.raises(NotAllowedNow):
        adjudication.adjudicate(other, stage="script", value=0, why="Not so.", by=manager)
    counts = read_counts(campaign)
    assert [str(key.script) for arm in counts.values() for key in arm.items] == ["2", "2"]
    assert not adjudication.disputed_items(campaign).exists()


@pytest.fixture
def two_scripts(manager: User, reviewer: User) -> Arms:
    """Return one statement with two arms that have different scripts, and the arm that comes first."""
    campaign, one, other = make_two_arms(by=manager, reviewers=[reviewer])
    other.run.drafts.update(script="pwd\n", sha256="1" * 64)
    return campaign, one, other


def work_on(campaign: Campaign, by: User, *, items: int, minutes: int) -> None:
    """Score this many additional items, and let `minutes` pass before each."""
    for number in range(items):
        item = add_item(campaign, f"more-{number}", verdict="correct")
        let_time_pass(minutes)
        held = services.claim_next(campaign, by=by)
        assert held is not None and held.item == item
        score_next(item, by, 2)


def test_other_arm_comes_in_the_next_sitting(two_scripts: Arms, reviewer: User) -> None:
    campaign, one, _other = two_scripts
    assert read_later([campaign], [reviewer.pk]) == {}
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)

    assert services.claim_next(campaign, by=reviewer) is None
    later = read_later([campaign], [reviewer.pk])[campaign.pk, reviewer.pk]
    ended = one.assignments.get().ended_at
    assert (later.count, later.at) == (1, ended + timedelta(minutes=30))


def test_who_works_on_without_a_pause_is_in_one_sitting(two_scripts: Arms, reviewer: User) -> None:
    campaign, one, other = two_scripts
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    # Forty minutes have passed, without a break of half an hour.
    work_on(campaign, reviewer, items=2, minutes=20)

    assert services.claim_next(campaign, by=reviewer) is None
    later = read_later([campaign], [reviewer.pk])[campaign.pk, reviewer.pk]
    assert later.at > timezone.now() + timedelta(minutes=29)
    let_time_pass()
    assert read_later([campaign], [reviewer.pk]) == {}
    held = services.claim_next(campaign, by=reviewer)
    assert held is not None and held.item == other


def test_same_statement_comes_in_another_sitting(manager: User, reviewer: User) -> None:
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


def test_what_came_from_file_is_work_of_when_it_was_done(two_scripts: Arms, reviewer: User) -> None:
    campaign, one, other = two_scripts
    imported = Assignment.objects.create(
        item=one,
        reviewer=reviewer,
        state=Assignment.State.SUBMITTED,
        reason=Assignment.Reason.IMPORTED,
        ended_at=timezone.now(),
    )
    Item.objects.filter(pk=one.pk).update(places=0)
    assert read_later([campaign], [reviewer.pk])
    assert services.claim_next(campaign, by=reviewer) is None
    imported.ended_at -= timedelta(days=1)
    imported.save()
    assert not read_later([campaign], [reviewer.pk])
    held = services.claim_next(campaign, by=reviewer)
    assert held is not None and held.item == other


def test_next_time_is_announced(two_scripts: Arms, reviewer: User, client_for: ClientFor) -> None:
    campaign, one, _other = two_scripts
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    at = timezone.localtime(Score.objects.latest("pk").at + timedelta(minutes=30))
    page = client_for(reviewer).get(f"/studies/{campaign.pk}/").text
    assert f"1 more at {at:%H:%M}" in page
    # Waiting items are scored first, which would delay the time.
    add_item(campaign, "more", verdict="correct")
    page = client_for(reviewer).get(f"/studies/{campaign.pk}/").text
    assert "1 more after a 30-minute break" in page
