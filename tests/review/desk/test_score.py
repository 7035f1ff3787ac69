"""Tests that scores are given in stage order, for the displayed object and idempotently, on the page and through the
API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from core.database.prepared_writes import insert, store, update
from core.errors import BadInput, NotAllowedNow, Stale
from pipeline.models import Draft, Feedback, Run
from review import services
from review.models import Assignment, Item, Score
from tests.keys import seen_in, shown
from tests.review.desk.test_desk import score_next
from tests.review.maker import ClientFor


def given(stage: str, value: int, seen: int, **more: object) -> services.ScoreInput:
    return services.ScoreInput(stage=stage, value=value, seen=seen, **more)


def first_of(item: Item) -> Draft:
    return item.run.drafts.get(number=1)


def test_three_stages_open_one_after_other(held_flagged: Assignment, reviewer: User) -> None:
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


def test_flagged_right_script_opens_stages(held_flagged: Assignment, reviewer: User) -> None:
    """Without these scores, the report could not measure how many correct scripts refinement breaks."""
    item = held_flagged.item
    services.submit_score(item, given("script", 2, first_of(item).pk), by=reviewer)
    assert len(services.open_item(item, reviewer).steps) == 2


def test_misplaced_score_is_refused(held_flagged: Assignment, reviewer: User) -> None:
    item = held_flagged.item
    feedback = Feedback.objects.get(draft__run=item.run)
    for score, refusal in (
        (given("feedback", 2, feedback.pk), NotAllowedNow),
        (given("script", 2, item.run.drafts.get(number=2).pk), Stale),
        (given("script", -1, first_of(item).pk), BadInput),
        (given("script", 99, first_of(item).pk), BadInput),
    ):
        with pytest.raises(refusal):
            services.submit_score(item, score, by=reviewer)
    assert not Score.objects.exists()


def test_repeated_or_changed_score_is_one_current_row(held: Assignment, reviewer: User) -> None:
    one = services.submit_score(held.item, given("script", 1, first_of(held.item).pk), by=reviewer)
    two = services.submit_score(held.item, given("script", 1, first_of(held.item).pk), by=reviewer)
    assert one.pk == two.pk and Score.objects.count() == 1


def test_changed_score_is_not_blind(held_flagged: Assignment, reviewer: User) -> None:
    item = held_flagged.item
    services.submit_score(item, given("script", 0, first_of(item).pk), by=reviewer)
    services.submit_score(item, given("script", 2, first_of(item).pk), by=reviewer)
    rows = Score.objects.order_by("pk").values_list("value", "current", "blind")
    assert list(rows) == [(0, False, True), (2, True, False)]


def test_asking_to_see_verdict_is_noted_with_score(held: Assignment, reviewer: User) -> None:
    services.reveal(held.item, "verdict", by=reviewer)
    given_score = given("script", 2, first_of(held.item).pk)
    score = services.submit_score(held.item, given_score, by=reviewer)
    assert score.visible["verdict"] is True and score.blind is False
    # A correct script that passed has no further stage.
    desk = services.open_item(held.item, reviewer)
    assert [step.stage for step in desk.steps] == ["script"] and desk.next_step is None
    # In a study, the verdict stays hidden.
    held.item.campaign.may_reveal = False
    with pytest.raises(NotAllowedNow):
        services.reveal(held.item, "verdict", by=reviewer)


def test_database_itself_refuses_what_no_path_may_write(held: Assignment, reviewer: User) -> None:
    score = services.submit_score(
        held.item, given("script", 2, first_of(held.item).pk), by=reviewer
    )
    for values in ({"value": 3}, {"stage": "style"}, {"arm": "expert"}, {"draft": None}):
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


def test_expert_feedback_starts_refinement(held: Assignment, reviewer: User) -> None:
    item = held.item
    services.submit_score(item, given("script", 1, first_of(item).pk), by=reviewer)
    with pytest.raises(BadInput):
        services.send_feedback(item, text="  ", by=reviewer)
    refinement = services.send_feedback(item, text="Only files, not folders.", by=reviewer)
    assert refinement.feedback is not None and refinement.feedback.arm == "expert"
    assert refinement.feedback.author == reviewer


@pytest.fixture(params=["page", "api"])
def send(request: pytest.FixtureRequest, client_for: ClientFor) -> Callable[..., int]:
    """Return a function that sends a score, on the page or through the API, and returns the status."""

    def post(user: User, item: Item, **values: object) -> int:
        client = client_for(user)
        if request.param == "page":
            answer = client.post(reverse("item-score", args=[item.pk]), values)
            return 201 if answer.status_code == 302 else answer.status_code
        return client.post(
            f"/api/v1/items/{shown(item)}/score/", values, content_type="application/json"
        ).status_code

    return post


def test_score_arrives_from_its_reviewer_only_and_bad_ones_change_nothing(
    held: Assignment,
    reviewer: User,
    stranger: User,
    second_reviewer: User,
    send: Callable[..., int],
) -> None:
    seen = seen_in(held.item, first_of(held.item))
    sent = {"stage": "script", "arm": "model", "value": 2, "seen": seen}
    for person, changed, status in (
        (reviewer, {"value": 3}, 422),
        (reviewer, {"stage": "refined"}, 409),
        (reviewer, {"seen": 0}, 409),
        (stranger, {}, 403),
        (second_reviewer, {}, 409),
    ):
        assert send(person, held.item, **sent | changed) == status, changed
        assert not Score.objects.exists()
    assert send(reviewer, held.item, **sent) == 201
    assert Score.objects.get().value == 2


def test_a_refused_score_leaves_the_comment_in_place(held: Assignment, as_reviewer: Client) -> None:
    answer = as_reviewer.post(
        reverse("item-score", args=[held.item_id]),
        {
            "stage": "script",
            "seen": seen_in(held.item, first_of(held.item)),
            "comment": "my <b>long</b> thought",
        },
        headers={"HX-Request": "true"},
    )
    assert answer.status_code == 422
    assert "my &lt;b&gt;long&lt;/b&gt; thought" in answer.text


def test_before_the_script_is_scored_nothing_tells_the_verdict(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    secrets = (
        "Use -path, not -name",
        "-path &#x27;*X*",
        "another directory",
        "flagged",
        "mismatch",
    )
    review = reverse("item-review", args=[held_flagged.item_id])
    for url in (review, f"/api/v1/items/{shown(held_flagged.item)}/"):
        seen = client_for(reviewer).get(url).text
        assert [one for one in secrets if one in seen] == [], url


def test_the_screen_takes_a_fixed_number_of_queries(
    held_flagged: Assignment,
    as_reviewer: Client,
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    as_reviewer.get(reverse("item-review", args=[held_flagged.item_id]))
    with django_assert_max_num_queries(24):
        as_reviewer.get(reverse("item-review", args=[held_flagged.item_id]))


def test_score_names_earlier_reviewers(held_flagged: Assignment, reviewer: User) -> None:
    for value in (0, 2, 1):
        score_next(held_flagged.item, reviewer, value)
    recorded = {score.stage: score.earlier_by for score in Score.objects.all()}
    by = reviewer.pk
    assert recorded == {
        "script": {},
        "feedback": {"script": by},
        "refined": {"script": by, "feedback": by},
    }


def make_score(item: Item, reviewer: User) -> Score:
    draft = item.run.drafts.get() if item.run else None
    return Score(
        item=item, reviewer=reviewer, stage="script", value=1, draft=draft, comment="100 %"
    )


def test_a_row_is_stored_as_save_stores_it(held: Assignment) -> None:
    score = make_score(held.item, held.reviewer)
    score.visible = {"verdict": False, "odd": ["%s", '"']}
    store(insert(score))
    stored = Score.objects.get()
    for field in Score._meta.concrete_fields:
        assert getattr(stored, field.attname) == getattr(score, field.attname), field.name
    score.value = 2
    score.save()  # the score is already stored, so this adds none
    assert Score.objects.get().value == 2


def test_rows_are_stored_together(held: Assignment, django_assert_num_queries: object) -> None:
    held.pauses, held.active_seconds = 3, {"script-model": 1.5}
    held.why = "is not named"
    score = make_score(held.item, held.reviewer)
    with django_assert_num_queries(1):
        store(insert(score), update(held, ("pauses", "active_seconds")))
    stored = Assignment.objects.get(pk=held.pk)
    assert (stored.pauses, stored.active_seconds, stored.why) == (3, {"script-model": 1.5}, "")
    held.pauses = 4
    with pytest.raises(IntegrityError), transaction.atomic():
        store(insert(make_score(held.item, held.reviewer)), update(held, ("pauses",)))
    assert Assignment.objects.get(pk=held.pk).pauses == 3 and Score.objects.get() == score
