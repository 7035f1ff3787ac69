"""The same script in two arms of one statement is shown once, and its score counts in each."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from core.errors import NotAllowedNow
from pipeline.models import Draft, Feedback
from review import services
from review.campaigns.services import adjudication
from review.counting import tallies
from review.counting.counts import read_counts
from review.models import Campaign, Exposure, Item, Score
from tests.make import imported_configuration
from tests.review.desk.test_desk import score_next
from tests.review.maker import add_item, let_time_pass, make_study


@pytest.fixture
def arms(manager: User, reviewer: User) -> tuple[Campaign, Item, Item]:
    """One statement, two arms whose first scripts are the same and passed."""
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    one, other = (add_item(campaign, name, verdict="correct") for name in ("one", "other"))
    Item.objects.filter(pk=other.pk).update(case=one.case, configuration=imported_configuration())
    first = one.run.drafts.get()  # type: ignore[union-attr]
    other.run.drafts.update(script=first.script, sha256=first.sha256)  # type: ignore[union-attr]
    Campaign.objects.filter(pk=campaign.pk).update(state="open", order="oldest")
    campaign.refresh_from_db()
    return campaign, one, Item.objects.get(pk=other.pk)


def test_scoring_one_arm_scores_the_other(
    arms: tuple[Campaign, Item, Item], reviewer: User
) -> None:
    campaign, one, other = arms
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    given, copied = Score.objects.order_by("pk")
    assert (given.item, copied.item, copied.value) == (one, other, 2)
    assert copied.visible["copied_from"] == given.pk and copied.draft != given.draft
    assert set(campaign.items.values_list("state", "done", "places")) == {("closed", 1, 0)}
    assert services.claim_next(campaign, by=reviewer) is None


def test_the_copy_is_not_blind_where_the_other_arm_s_verdict_was_seen(
    arms: tuple[Campaign, Item, Item], reviewer: User
) -> None:
    campaign, one, other = arms
    Exposure.objects.create(person=reviewer, run=other.run, what="run", where="test")
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    assert dict(Score.objects.values_list("item", "blind")) == {one.pk: True, other.pk: False}


def test_taking_it_back_takes_the_copy_back(
    arms: tuple[Campaign, Item, Item], reviewer: User
) -> None:
    campaign, one, other = arms
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    assert services.undo_last(campaign, by=reviewer) == one
    assert not Score.objects.filter(current=True).exists()
    other.refresh_from_db()
    assert (other.state, other.done, other.places) == ("open", 0, 1)
    score_next(one, reviewer, 2)
    assert Score.objects.filter(current=True).count() == 2


def test_an_arm_that_shows_more_is_met_later_without_the_script_being_asked_again(
    arms: tuple[Campaign, Item, Item], reviewer: User
) -> None:
    campaign, one, other = arms
    draft = other.run.drafts.get()  # type: ignore[union-attr]
    Feedback.objects.create(draft=draft, text="- Else.", words=1, points=1)
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 0)
    assert Score.objects.count() == 1
    let_time_pass()
    later = services.claim_next(campaign, by=reviewer)
    assert later is not None and later.item == other
    step = services.open_item(other, reviewer).next_step
    assert step is not None and step.stage == "feedback"


def test_another_script_is_scored_on_its_own(
    arms: tuple[Campaign, Item, Item], reviewer: User
) -> None:
    campaign, one, other = arms
    Draft.objects.filter(run=other.run).update(sha256="0" * 64)
    services.claim_next(campaign, by=reviewer)
    score_next(one, reviewer, 2)
    assert Score.objects.count() == 1


def test_a_text_in_two_arms_is_settled_once_and_never_by_a_rater_of_either(
    arms: tuple[Campaign, Item, Item], manager: User, reviewer: User, second_reviewer: User
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
