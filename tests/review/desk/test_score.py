"""Scores in the order of the gates, on the exact object seen, safe to send twice; page and API alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.models import Draft, Feedback, Run
from review import services
from review.models import Assignment, Item, Score
from tests.keys import seen_in, shown
from tests.review.desk.test_desk import score_next


def given(stage: str, value: int, seen: int, **more: object) -> services.ScoreInput:
    return services.ScoreInput(stage=stage, value=value, seen=seen, **more)  # type: ignore[arg-type]


def first_of(item: Item) -> Draft:
    assert item.run is not None
    return item.run.drafts.get(number=1)


def test_the_three_stages_open_one_after_the_other(
    held_flagged: Assignment, reviewer: User
) -> None:
    item = held_flagged.item
    first, refined = item.run.drafts.order_by("number")
    feedback = Feedback.objects.get(draft=first)
    desk = services.open_item(item, reviewer)
    assert [step.stage for step in desk.steps] == ["script"]
    assert not desk.visible["verdict"] and not desk.visible["feedback"]
    services.submit_score(item, given("script", 0, first.pk), by=reviewer)
    desk = services.open_item(item, reviewer)
    assert [step.stage for step in desk.steps] == ["script", "feedback"]
    assert desk.visible["verdict"]
    services.submit_score(item, given("feedback", 2, feedback.pk), by=reviewer)
    services.submit_score(item, given("refined", 2, refined.pk, view="diff"), by=reviewer)
    desk = services.open_item(item, reviewer)
    assert desk.next_step is None
    assert {key: score.value for key, score in desk.scores.items()} == {
        "script-model": 0,
        "feedback-model": 2,
        "refined-model": 2,
    }


def test_a_right_script_that_was_flagged_opens_them_too(
    held_flagged: Assignment, reviewer: User
) -> None:
    """Else what refinement breaks could never be measured."""
    item = held_flagged.item
    services.submit_score(item, given("script", 2, first_of(item).pk), by=reviewer)
    assert len(services.open_item(item, reviewer).steps) == 2


def test_a_right_script_that_passed_asks_nothing_more(held: Assignment, reviewer: User) -> None:
    services.submit_score(held.item, given("script", 2, first_of(held.item).pk), by=reviewer)
    desk = services.open_item(held.item, reviewer)
    assert [step.stage for step in desk.steps] == ["script"] and desk.next_step is None


@pytest.mark.parametrize("value", [-1, 3, 99])
def test_other_values_are_refused(held: Assignment, reviewer: User, value: int) -> None:
    with pytest.raises(BadInput):
        services.submit_score(
            held.item, given("script", value, first_of(held.item).pk), by=reviewer
        )


def test_out_of_order_is_refused(held_flagged: Assignment, reviewer: User) -> None:
    feedback = Feedback.objects.get(draft__run=held_flagged.item.run)
    with pytest.raises(NotAllowedNow):
        services.submit_score(held_flagged.item, given("feedback", 2, feedback.pk), by=reviewer)
    assert not Score.objects.exists()


def test_another_object_than_the_one_shown_is_refused(
    held_flagged: Assignment, reviewer: User
) -> None:
    refined = held_flagged.item.run.drafts.get(number=2)
    with pytest.raises(Stale):
        services.submit_score(held_flagged.item, given("script", 2, refined.pk), by=reviewer)


def test_somebody_elses_item_is_refused(held: Assignment, second_reviewer: User) -> None:
    with pytest.raises(NotAllowedNow):
        services.submit_score(
            held.item, given("script", 2, first_of(held.item).pk), by=second_reviewer
        )


def test_the_same_score_twice_is_one_row(held: Assignment, reviewer: User) -> None:
    one = services.submit_score(held.item, given("script", 1, first_of(held.item).pk), by=reviewer)
    two = services.submit_score(held.item, given("script", 1, first_of(held.item).pk), by=reviewer)
    assert one.pk == two.pk and Score.objects.count() == 1


def test_a_changed_score_keeps_the_old_one_and_is_no_longer_blind(
    held_flagged: Assignment, reviewer: User
) -> None:
    item = held_flagged.item
    services.submit_score(item, given("script", 0, first_of(item).pk), by=reviewer)
    services.submit_score(item, given("script", 2, first_of(item).pk), by=reviewer)
    rows = Score.objects.order_by("pk").values_list("value", "current", "blind")
    assert list(rows) == [(0, False, True), (2, True, False)]


def test_asking_to_see_the_verdict_is_noted_with_the_score(
    held: Assignment, reviewer: User
) -> None:
    services.reveal(held.item, "verdict", by=reviewer)
    score = services.submit_score(
        held.item, given("script", 2, first_of(held.item).pk), by=reviewer
    )
    assert score.visible["verdict"] is True and score.blind is False


def test_a_study_keeps_the_verdict_hidden(held: Assignment, reviewer: User) -> None:
    held.item.campaign.may_reveal = False
    with pytest.raises(NotAllowedNow):
        services.reveal(held.item, "verdict", by=reviewer)


def test_the_database_itself_refuses_what_no_path_may_write(
    held: Assignment, reviewer: User
) -> None:
    score = services.submit_score(
        held.item, given("script", 2, first_of(held.item).pk), by=reviewer
    )
    for values in (
        {"value": 3},
        {"stage": "style"},
        {"arm": "expert"},
        {"draft": None},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Score.objects.filter(pk=score.pk).update(**values)
    with pytest.raises(IntegrityError), transaction.atomic():
        Item.objects.filter(pk=held.item_id).update(places=-1)


def test_what_the_assessor_missed_is_explained_on_demand_and_comes_back(
    held: Assignment, reviewer: User, second_reviewer: User
) -> None:
    item = held.item
    with pytest.raises(NotAllowedNow):
        services.ask_for_feedback(item, by=reviewer)
    services.submit_score(item, given("script", 0, first_of(item).pk), by=reviewer)
    services.ask_for_feedback(item, by=reviewer)
    held.refresh_from_db()
    item.run.refresh_from_db()
    assert held.state == Assignment.State.WAITING and item.run.state == Run.State.QUEUED
    assert services.claim_next(services.live_queue(), by=reviewer) is None, (
        "one goes on with other items"
    )
    assert services.claim_next(services.live_queue(), by=second_reviewer) is None
    Run.objects.filter(pk=item.run_id).update(state="done")
    back = services.claim_next(services.live_queue(), by=reviewer)
    assert back is not None and back.pk == held.pk and back.state == Assignment.State.ACTIVE


def test_an_experts_feedback_starts_a_refinement_in_its_own_arm(
    held: Assignment, reviewer: User
) -> None:
    item = held.item
    services.submit_score(item, given("script", 1, first_of(item).pk), by=reviewer)
    with pytest.raises(BadInput):
        services.send_feedback(item, text="  ", by=reviewer)
    refinement = services.send_feedback(item, text="Only files, not folders.", by=reviewer)
    assert refinement.feedback is not None and refinement.feedback.arm == "expert"
    assert refinement.feedback.author == reviewer


# --- Page and API -----------------------------------------------------------------------------------------------


@pytest.fixture(params=["page", "api"])
def send(
    request: pytest.FixtureRequest, client_for: Callable[[User], Client]
) -> Callable[..., int]:
    """Send a score over the page or over the API; the status that came back."""

    def post(user: User, item: Item, **values: object) -> int:
        client = client_for(user)
        if request.param == "page":
            answer = client.post(reverse("item-score", args=[item.pk]), values)
            return 201 if answer.status_code == 302 else answer.status_code
        return client.post(
            f"/api/v1/items/{shown(item)}/score/", values, content_type="application/json"
        ).status_code

    return post


def test_a_score_arrives(held: Assignment, reviewer: User, send: Callable[..., int]) -> None:
    seen = seen_in(held.item, first_of(held.item))
    assert send(reviewer, held.item, stage="script", arm="model", value=2, seen=seen) == 201
    assert Score.objects.get().value == 2


@pytest.mark.parametrize(
    ("values", "status"),
    [
        pytest.param({"value": 3}, 422, id="a score of 3"),
        pytest.param({"stage": "refined"}, 409, id="out of order"),
        pytest.param({"seen": 0}, 409, id="something else was seen"),
    ],
)
def test_a_bad_score_changes_nothing(
    held: Assignment,
    reviewer: User,
    send: Callable[..., int],
    values: dict[str, object],
    status: int,
) -> None:
    sent = {
        "stage": "script",
        "arm": "model",
        "value": 2,
        "seen": seen_in(held.item, first_of(held.item)),
        **values,
    }
    assert send(reviewer, held.item, **sent) == status
    assert not Score.objects.exists()


def test_others_are_refused(
    held: Assignment, stranger: User, second_reviewer: User, send: Callable[..., int]
) -> None:
    sent = {
        "stage": "script",
        "arm": "model",
        "value": 2,
        "seen": seen_in(held.item, first_of(held.item)),
    }
    assert send(stranger, held.item, **sent) == 403
    assert send(second_reviewer, held.item, **sent) == 409
    assert not Score.objects.exists()


def test_a_refused_score_leaves_the_comment_in_place(
    held: Assignment, reviewer: User, client_for: Callable[[User], Client]
) -> None:
    answer = client_for(reviewer).post(
        reverse("item-score", args=[held.item_id]),
        {
            "stage": "script",
            "seen": seen_in(held.item, first_of(held.item)),
            "comment": "my <b>long</b> thought",
        },
        headers={"HX-Request": "true"},
    )
    assert answer.status_code == 422
    assert "my &lt;b&gt;long&lt;/b&gt; thought" in answer.content.decode()


@pytest.mark.parametrize("how", ["page", "api"])
def test_before_the_script_is_scored_nothing_tells_the_verdict(
    held_flagged: Assignment, reviewer: User, client_for: Callable[[User], Client], how: str
) -> None:
    client, pk = client_for(reviewer), held_flagged.item_id
    url = (
        reverse("item-review", args=[pk])
        if how == "page"
        else f"/api/v1/items/{shown(held_flagged.item)}/"
    )
    seen = client.get(url).content.decode()
    for secret in (
        "Use -path, not -name",
        "-path &#x27;*X*",
        "another directory",
        "flagged",
        "mismatch",
    ):
        assert secret not in seen


def test_the_screen_takes_a_fixed_number_of_queries(
    held_flagged: Assignment,
    reviewer: User,
    client_for: Callable[[User], Client],
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    client = client_for(reviewer)
    client.get(reverse("item-review", args=[held_flagged.item_id]))
    with django_assert_max_num_queries(24):  # type: ignore[attr-defined]
        client.get(reverse("item-review", args=[held_flagged.item_id]))


def test_with_each_score_stands_who_scored_the_stages_before(
    held_flagged: Assignment, reviewer: User
) -> None:
    for value in (0, 2, 1):
        score_next(held_flagged.item, reviewer, value)
    recorded = {score.stage: score.earlier_by for score in Score.objects.all()}
    by = reviewer.pk
    assert recorded == {
        "script": {},
        "feedback": {"script": by},
        "refined": {"script": by, "feedback": by},
    }
