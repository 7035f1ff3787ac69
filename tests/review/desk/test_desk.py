"""Tests for comparing two scripts, loading the next item, separate tabs and saved input on the review page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.errors import NotAllowedNow
from review import services
from review.campaigns.services import states
from review.models import Assignment, Decision, Item, Score, Scratch
from tests.keys import seen_in, shown
from tests.make import make_run
from tests.review.maker import ClientFor, add_item, make_study, shown_to

HTMX = {"HX-Request": "true"}


def send(client: Client, item: Item, name: str, **values: object) -> tuple[int, str]:
    answer = client.post(reverse(name, args=[item.pk]), values, headers=HTMX)
    return answer.status_code, answer.text


def score_next(item: Item, by: User, value: int) -> None:
    """Score the item's open stage."""
    step = services.open_item(Item.objects.get(pk=item.pk), by).next_step
    seen = step.draft or step.feedback
    services.submit_score(
        item, services.ScoreInput(stage=step.stage, value=value, seen=seen.pk, arm=step.arm), by=by
    )


def script_of(item: Item) -> int:
    return item.run.drafts.get(number=1).pk


def test_any_two_scripts_that_may_be_seen_stand_beside_each_other(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    url = reverse("item-review", args=[item.pk])
    hidden = client.get(url, {"show": 2, "against": 1}).text
    assert "-path" not in hidden and "diff" not in hidden.split("<main")[1].split("<script")[0]
    score_next(item, reviewer, 0)
    score_next(item, reviewer, 2)
    inline = client.get(url).text
    assert 'class="diff"' in inline and '<ins class="word">path</ins>' in inline
    side = client.get(url, {"show": 1, "against": 2, "side": 1}).text
    assert "diff-side" in side and '<del class="word">path</del>' in side
    plain = client.get(url, {"show": 2, "against": 0}).text
    assert 'id="script-L1"' in plain and 'class="diff' not in plain


def test_invalid_stage_is_ignored(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    client, url = client_for(reviewer), reverse("item-review", args=[held.item_id])
    for query in ("show=99", "show=x&against=-3", "change=refined-model", "side=2"):
        answer = client.get(f"{url}?{query}")
        assert answer.status_code == 200 and 'id="script-L1"' in answer.text, query


def test_last_score_leads_to_next(manager: User, reviewer: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    first = services.claim_next(campaign, by=reviewer)
    score_next(first.item, reviewer, 0)
    score_next(first.item, reviewer, 2)
    refined = first.item.run.drafts.get(kind="refined")
    answer = client_for(reviewer).post(
        reverse("item-score", args=[first.item_id]),
        {"stage": "refined", "value": 2, "seen": seen_in(first.item, refined)},
        headers=HTMX,
    )
    (following,) = Assignment.objects.filter(state="active")
    assert following.item_id != first.item_id
    assert answer["HX-Push-Url"] == reverse("item-review", args=[following.item_id])
    assert f'data-item="{shown(following.item)}"' in answer.text and "toast" in answer["HX-Trigger"]


def test_empty_queue_ends_review(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    draft = held.item.run.drafts.get()
    answer = client_for(reviewer).post(
        reverse("item-decide", args=[held.item_id]),
        {
            "kind": "approve",
            "draft": draft.sha256,
            "shown": shown_to(reviewer, held.item),
            "risk_reason": "It deletes what is old.",
        },
        headers=HTMX,
    )
    assert answer["HX-Redirect"] == reverse("queue") and Decision.objects.count() == 1


def test_the_last_score_of_an_item_sent_twice_is_one(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, edit_minutes=0)
    assignment = services.claim_next(campaign, by=reviewer)
    for value in (0, 2, 2):
        score_next(assignment.item, reviewer, value)
    refined = assignment.item.run.drafts.get(kind="refined")
    again = services.ScoreInput(stage="refined", value=2, seen=refined.pk)
    assert services.submit_score(assignment.item, again, by=reviewer).value == 2
    assert Score.objects.count() == 3


def test_older_tab_keeps_its_text(held: Assignment, reviewer: User, client_for: ClientFor) -> None:
    item, client = held.item, client_for(reviewer)
    older = client.post(reverse("item-open", args=[item.pk])).json()["fence"]
    newer = client.post(reverse("item-open", args=[item.pk])).json()["fence"]
    assert newer > older
    alive = reverse("item-alive", args=[item.pk])
    assert client.post(alive, {"fence": older}).status_code == 409
    assert client.post(alive, {"fence": newer}).status_code == 200
    sent = {
        "stage": "script",
        "value": 2,
        "seen": seen_in(item, script_of(item)),
        "comment": "of the older tab",
    }
    status, page = send(client, item, "item-score", **sent, fence=older)
    assert status == 409 and "another tab" in page and "of the older tab" in page
    assert not Score.objects.exists()
    assert send(client, item, "item-score", **sent, fence=newer)[0] == 200
    assert Score.objects.count() == 1


def test_a_sign_of_life_is_told_what_came_back(
    held: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    client, alive = client_for(reviewer), reverse("item-alive", args=[held.item.pk])
    fence = client.post(reverse("item-open", args=[held.item.pk])).json()["fence"]
    assert "ready for you" not in client.post(alive, {"fence": fence}).text

    other = services.take_in(make_run(by=second_reviewer, statement="Another one").pk)
    services.claim_item(other, by=reviewer)
    Assignment.objects.filter(item=other).update(state="waiting", lease_until=None)

    told = client.post(alive, {"fence": fence}).text
    assert "1 ready for you" in told and reverse("item-claim", args=[other.pk]) in told


def test_what_was_typed_for_one_stage_never_stands_in_the_next(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    kept = {"comment-script-model": "about the script", "value-script-model": "0", "revision": 0}
    keep = reverse("item-scratch", args=[item.pk])
    assert client.post(keep, {**kept, "unknown": "x"}).json() == {"revision": 1}
    assert client.post(keep, kept).json() == {"revision": 1}, (
        "the answer was lost, and it came again"
    )
    assert client.post(keep, {**kept, "why": "other"}).status_code == 409
    assert set(Scratch.objects.get().fields) == {"comment-script-model", "value-script-model"}
    url = reverse("item-review", args=[item.pk])
    assert "about the script" in client.get(url).text
    score_next(item, reviewer, 0)
    assert "about the script" not in client.get(url).text


def test_undo_takes_the_last_score_back_and_keeps_it(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item = held_flagged.item
    score_next(item, reviewer, 0)
    assert send(client_for(reviewer), item, "item-undo")[0] == 200
    taken = Score.objects.get()
    assert (taken.current, taken.blind) == (False, True) and taken.undone_at is not None
    score_next(item, reviewer, 2)
    again = Score.objects.get(current=True)
    assert (again.value, again.blind) == (2, False), "the verdict was seen meanwhile"


def test_undo_opens_a_finished_item_of_a_study_again(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    assignment = services.claim_next(campaign, by=reviewer)
    for value in (0, 2, 1):
        score_next(assignment.item, reviewer, value)
    assert services.undo_last(campaign, by=reviewer) == assignment.item
    assignment.refresh_from_db()
    item = campaign.items.get()
    assert (assignment.state, item.state, item.done) == ("active", "open", 0)
    score_next(item, reviewer, 2)
    assert Score.objects.filter(stage="refined").count() == 2


def test_undo_brings_back_the_score_before_a_change(held: Assignment, reviewer: User) -> None:
    for value in (0, 2):
        given = services.ScoreInput(stage="script", value=value, seen=script_of(held.item))
        services.submit_score(held.item, given, by=reviewer)
    services.undo_last(held.item.campaign, by=reviewer)
    assert Score.objects.get(current=True).value == 0


def test_undo_is_own_and_recent(held: Assignment, reviewer: User, second_reviewer: User) -> None:
    score_next(held.item, reviewer, 2)
    with pytest.raises(NotAllowedNow):
        services.undo_last(held.item.campaign, by=second_reviewer)
    held.item.campaign.edit_minutes = 0
    with pytest.raises(NotAllowedNow):
        services.undo_last(held.item.campaign, by=reviewer)


def test_undo_brings_a_skipped_item_back(
    held: Assignment, reviewer: User, client_for: ClientFor, put_in_queue: Callable[..., Item]
) -> None:
    put_in_queue()  # the next item
    item, client = held.item, client_for(reviewer)
    skip = {"how": "skip", "why": "Not my field"}
    answer = client.post(reverse("item-give-back", args=[item.pk]), skip, headers=HTMX)
    assert answer.status_code == 200 and "You can undo this." in answer.headers["HX-Trigger"]
    item.refresh_from_db()
    assert item.places == 1
    assert send(client, item, "item-undo")[0] == 200
    held.refresh_from_db()
    item.refresh_from_db()
    assert (held.state, held.why, held.ended_at, item.places) == ("active", "", None, 0)
    score_next(item, reviewer, 2)


def test_taken_item_stays_theirs(held: Assignment, reviewer: User, second_reviewer: User) -> None:
    services.give_back(held, state=Assignment.State.SKIPPED, why="Not my field")
    services.claim_item(held.item, by=second_reviewer)
    with pytest.raises(NotAllowedNow, match="Another reviewer has claimed this item"):
        services.undo_last(held.item.campaign, by=reviewer)
    held.refresh_from_db()
    assert (held.state, held.why) == ("skipped", "Not my field")
    assert held.item.assignments.get(state="active").reviewer == second_reviewer


def test_earlier_item_is_reopened(manager: User, reviewer: User, as_reviewer: Client) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    met = []
    for _time in range(2):
        assignment = services.claim_next(campaign, by=reviewer)
        met.append(assignment.item)
        for value in (0, 2, 1):
            score_next(assignment.item, reviewer, value)
    back = as_reviewer.get(reverse("item-earlier", args=[met[1].pk]))
    assert back["Location"] == reverse("item-review", args=[met[0].pk])
    page = as_reviewer.get(back["Location"], {"change": "refined-model"}).text
    assert 'name="value" value="1" id="value_1" checked' in page


def test_scoring_what_asks_for_one_score_takes_as_few_queries_every_time(
    manager: User,
    reviewer: User,
    as_reviewer: Client,
    django_assert_num_queries: Callable[[int], object],
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    for number in range(5):
        add_item(campaign, f"passed-{number}", verdict="correct")
    states.move_campaign(campaign, "open", by=manager)
    campaign.refresh_from_db()
    assignment = services.claim_next(campaign, by=reviewer)
    # Ten queries, plus the preferences, which a sign-in would have cached, and the test's savepoints.
    for number in (None, 13, 13, 13):
        script = assignment.item.run.drafts.get()
        sent = {
            "stage": "script",
            "value": 2,
            "seen": seen_in(assignment.item, script),
            "fence": assignment.fence,
        }
        url = reverse("item-score", args=[assignment.item_id])
        # The first request loads and caches shared data such as the rubric.
        expected = django_assert_num_queries(number) if number else nullcontext()
        with expected:
            assert as_reviewer.post(url, sent, headers=HTMX).status_code == 200
        assignment = Assignment.objects.select_related("item__run").get(state="active")
