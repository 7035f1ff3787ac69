"""Tests for which reviewer gets which item in which order, when a study is finished, and what is counted."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.utils import timezone

from core.errors import BadInput, NotAllowedNow
from review import services
from review.campaigns.services import adjudication, membership, states
from review.campaigns.services import rules as studies
from review.counting import tallies
from review.counting.counts import read_counts
from review.models import Assignment, Campaign, Exposure, Item, Score, Tally
from review.queue.members import add_member
from review.queue.reviewer_order import BITS
from review.study import Stage
from tests.people import make_person
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study


def give(item: Item, by: User, *values: int) -> None:
    """Score the item's stages in order, as they open."""
    for value in values:
        score_next(item, by, value)


def go_through(campaign: Campaign, by: User, *values: int) -> list[int]:
    """Claim and score all available items, and return them in order."""
    order = []
    while assignment := services.claim_next(campaign, by=by):
        order.append(assignment.item_id)
        give(assignment.item, by, *values)
    return order


def test_reviewers_have_own_order(manager: User, reviewer: User, second_reviewer: User) -> None:
    people = [reviewer, second_reviewer]
    campaign = make_study(by=manager, reviewers=people, items=6, overlap=2)
    # Inverting every bit of the seed reverses the order. Two random seeds could produce the same order.
    for one, seed in zip(people, (0, (1 << BITS) - 1), strict=True):
        campaign.members.filter(user=one).update(seed=seed)
    orders = [go_through(campaign, one, 0, 2, 2) for one in people]
    assert (
        sorted(orders[0])
        == sorted(orders[1])
        == sorted(campaign.items.values_list("pk", flat=True))
    )
    assert orders[0] == orders[1][::-1]
    assert not campaign.items.exclude(state=Item.State.CLOSED, done=2, places=0).exists()


@pytest.mark.slow
def test_the_random_order_is_the_same_through_buckets_and_as_a_whole(
    manager: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=12)
    seed = campaign.members.get().seed
    expected = sorted(campaign.items.all(), key=lambda item: item.shuffle ^ seed)
    monkeypatch.setattr("review.queue.reviewer_order._bits", lambda _campaign: 4)
    assert go_through(campaign, reviewer, 0, 2, 2) == [item.pk for item in expected]


@pytest.mark.slow
def test_what_was_given_back_in_a_bucket_gone_through_still_comes(
    manager: User, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review.queue.reviewer_order._bits", lambda _campaign: 3)
    campaign = make_study(by=manager, reviewers=[reviewer], items=6)
    first = services.claim_next(campaign, by=reviewer)
    services.give_back(first, state=Assignment.State.RELEASED)
    campaign.members.update(reached=256)
    assert first.item_id in go_through(campaign, reviewer, 0, 2, 2)


@pytest.mark.slow
def test_a_share_of_the_items_wants_more_reviewers(manager: User, reviewer: User) -> None:
    campaign = make_study(
        by=manager, reviewers=[reviewer], items=60, extra_overlap=3, extra_share=30
    )
    more = campaign.items.filter(overlap=3).count()
    assert 4 <= more <= 40  # fails by chance in one of a million runs
    assert campaign.items.filter(overlap=1).count() == 60 - more


def test_an_item_is_done_once_nothing_is_left_to_score(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    assignment = services.claim_next(campaign, by=reviewer)
    for value, state in ((0, "active"), (2, "active"), (1, "submitted")):
        give(assignment.item, reviewer, value)
        assignment.refresh_from_db()
        assert assignment.state == state
    item = campaign.items.get()
    assert (item.state, item.done, item.places) == (Item.State.CLOSED, 1, 0)


def test_score_changes_only_within_edit_window(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    go_through(campaign, reviewer, 1, 2, 1)
    item = campaign.items.get()
    draft = item.run.drafts.get(kind="refined")
    change = services.ScoreInput(stage="refined", value=2, seen=draft.pk)
    assert services.submit_score(item, change, by=reviewer).value == 2
    Assignment.objects.update(ended_at=timezone.now() - timedelta(minutes=61))
    with pytest.raises(NotAllowedNow):
        services.submit_score(
            item, services.ScoreInput(stage="refined", value=0, seen=draft.pk), by=reviewer
        )


def test_refused_claim_has_reason(manager: User, reviewer: User, second_reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=3, limit_each=1)
    first = services.claim_next(campaign, by=reviewer)
    give(first.item, reviewer, 0, 2, 2)
    with pytest.raises(NotAllowedNow, match=r"reviewed your 1 item\."):
        services.claim_next(campaign, by=reviewer)
    add_member(campaign, reviewer, by=manager, limit=2)
    membership.pause_member(campaign.members.get(), paused=True, by=manager)
    with pytest.raises(NotAllowedNow, match="paused"):
        services.claim_next(campaign, by=reviewer)
    with pytest.raises(NotAllowedNow, match="not a reviewer"):
        services.claim_next(campaign, by=second_reviewer)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_overlap_is_exact_when_many_claim_at_once(manager: User) -> None:
    people = [make_person(f"p{number}", "reviewer") for number in range(6)]
    campaign = make_study(by=manager, reviewers=people, items=4, overlap=3)
    barrier = threading.Barrier(len(people))
    failed: list[BaseException] = []

    def work(person: User) -> None:
        try:
            barrier.wait()
            go_through(campaign, person, 0, 2, 2)
        except BaseException as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert set(campaign.items.values_list("done", "places", "state")) == {(3, 0, "closed")}
    assert Assignment.objects.count() == 12


def test_pilot_hands_out_only_its_items(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=5, is_open=False, pilot_size=2)
    states.move_campaign(campaign, "pilot", by=manager)
    campaign.refresh_from_db()
    assert len(go_through(campaign, reviewer, 0, 2, 2)) == 2
    campaign = states.move_campaign(campaign, "open", by=manager)
    assert len(go_through(campaign, reviewer, 0, 2, 2)) == 3


def test_a_campaign_that_makes_no_sense_is_refused(manager: User) -> None:
    studies.create_campaign("Taken", by=manager)
    refused: list[tuple[str, dict[str, object], str]] = [
        ("", {}, "name"),
        ("Taken", {}, "name"),
        ("x" * 151, {}, "name"),
        ("New", {"overlap": 0}, "overlap"),
        ("New", {"sham_share": 101}, "sham_share"),
        ("New", {"order": "wild"}, "order"),
    ]
    for name, rules, field in refused:
        with pytest.raises(BadInput) as error:
            studies.create_campaign(name, by=manager, rules=studies.Rules(**rules))
        assert error.value.field == field


def test_open_campaign_keeps_rules_and_needs_members(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer])
    with pytest.raises(NotAllowedNow):
        studies.change_rules(campaign, studies.Rules(overlap=2), by=manager)
    studies.change_rules(campaign, studies.Rules(limit_each=9, rubric="New"), by=manager)
    campaign.refresh_from_db()
    assert campaign.limit_each == 9
    assert [one.number for one in campaign.rubrics.all()] == [2, 1]
    empty = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    unmanned = make_study(by=manager, reviewers=[], name="Unmanned", is_open=False)
    for campaign in (empty, unmanned):
        with pytest.raises(NotAllowedNow):
            states.move_campaign(campaign, "open", by=manager)


def tallied(campaign: Campaign) -> set[tuple[str, str, int]]:
    rows = Tally.objects.filter(campaign=campaign).exclude(count=0)
    return set(rows.values_list("kind", "pattern", "count"))


def test_kept_counts_match_recount(manager: User, reviewer: User, second_reviewer: User) -> None:
    people = [reviewer, second_reviewer]
    campaign = make_study(by=manager, reviewers=people, items=4, overlap=2)
    for person, value in zip(people, (0, 1), strict=True):
        while assignment := services.claim_next(campaign, by=person):
            give(assignment.item, person, value)
            tallies.count_due(campaign)
            give(assignment.item, person, 2, 2)
    kept_up = read_counts(campaign)
    before = tallied(campaign)
    assert tallies.recount(campaign) == 4
    assert tallied(campaign) == before
    (counts,) = kept_up.values()
    assert sum(counts.items.values()) == 4
    assert sum(counts.given[Stage.SCRIPT].pairs.values()) == 4
    assert set(campaign.items.values_list("disputed", flat=True)) == {True}


def test_adjudicated_stage_is_settled(manager: User, reviewer: User, second_reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1, overlap=2)
    go_through(campaign, reviewer, 0, 2, 2)
    go_through(campaign, second_reviewer, 1, 2, 2)
    tallies.count_due(campaign)
    (item,) = adjudication.disputed_items(campaign)
    (difference,) = adjudication.differences(item)
    assert [score.value for score in difference.scores] == [0, 1]
    adjudication.adjudicate(item, stage="script", value=1, why="It lists too much.", by=manager)
    counts = read_counts(campaign)
    assert not adjudication.disputed_items(campaign).exists()
    (pattern,) = next(iter(counts.values())).items
    assert pattern.script == "1"


def test_rater_can_not_adjudicate(manager: User, reviewer: User, second_reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1, overlap=2)
    go_through(campaign, reviewer, 0, 2, 2)
    item = campaign.items.get()
    judge = make_person("judge", "reviewer", "manager")
    Score.objects.filter(reviewer=reviewer).update(reviewer=judge)
    with pytest.raises(PermissionDenied):
        adjudication.adjudicate(item, stage="script", value=1, why="So.", by=judge)
    with pytest.raises(PermissionDenied):
        adjudication.adjudicate(item, stage="script", value=1, why="So.", by=second_reviewer)
    with pytest.raises(BadInput):
        adjudication.adjudicate(item, stage="script", value=1, why=" ", by=manager)
    with pytest.raises(BadInput):
        adjudication.adjudicate(item, stage="script", value=3, why="So.", by=manager)


def test_somebody_called_in_comes_first_to_the_item_and_is_left_out_of_agreement(
    manager: User, reviewer: User, second_reviewer: User
) -> None:
    third = make_person("third", "reviewer")
    campaign = make_study(
        by=manager, reviewers=[reviewer, second_reviewer, third], items=2, overlap=2
    )
    for person, value in ((reviewer, 0), (second_reviewer, 2)):
        go_through(campaign, person, value, 2, 2)
    item = campaign.items.order_by("pk").first()
    adjudication.call_in(item, third, by=manager)
    assignment = services.claim_next(campaign, by=third)
    assert assignment is not None and assignment.item_id == item.pk
    give(item, third, 2, 2, 2)
    counts = next(iter(read_counts(campaign).values()))
    assert sum(counts.given[Stage.SCRIPT].pairs.values()) == 2
    # A third reviewer's score settles the script by majority. The other item stays unresolved.
    assert {str(pattern.script) for pattern in counts.items} == {"2", "u"}


def show_verdict(item: Item, person: User) -> None:
    Exposure.objects.create(person=person, run_id=item.run_id, what="run", where="run-detail")


def review(study: Campaign, person: User) -> Item:
    """Claim the next item and give its script a score of 2. No later stage opens."""
    assignment = services.claim_next(study, by=person)
    while services.open_item(Item.objects.get(pk=assignment.item_id), person).next_step is not None:
        score_next(assignment.item, person, 2)
    return Item.objects.get(pk=assignment.item_id)


@pytest.mark.parametrize("overlap", [1, 2])
def test_an_item_goes_on_until_it_has_as_many_blind_scores_as_are_wanted(
    overlap: int, manager: User, reviewer: User, second_reviewer: User
) -> None:
    third = make_person("third", "reviewer")
    people = [reviewer, second_reviewer, third]
    study = make_study(by=manager, reviewers=people, items=1, overlap=overlap)
    show_verdict(study.items.get(), reviewer)
    item = review(study, reviewer)
    assert (item.state, item.done, item.places) == ("open", 0, overlap)
    assert not Score.objects.get(item=item, stage="script").blind
    for person in people[1 : overlap + 1]:
        item = review(study, person)
    assert (item.state, item.done, item.places) == ("closed", overlap, 0)
    assert services.claim_next(study, by=reviewer) is None  # no reviewer gets an item twice


def test_undo_removes_follow_ups(manager: User, reviewer: User, second_reviewer: User) -> None:
    study = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=1)
    show_verdict(study.items.get(), reviewer)
    item = review(study, reviewer)
    held = item.assignments.get()
    services.send_back(held, why="Look again.", by=manager)
    item.refresh_from_db()
    assert (item.state, item.done) == ("open", 0)
    item = review(study, second_reviewer)
    assert (item.state, item.done) == ("closed", 1)


def test_open_study_counts_all_scores(manager: User, reviewer: User, second_reviewer: User) -> None:
    study = make_study(
        by=manager, reviewers=[reviewer, second_reviewer], items=1, hides_verdict=False
    )
    show_verdict(study.items.get(), reviewer)
    assert review(study, reviewer).state == "closed"
