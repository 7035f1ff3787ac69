"""Whoever was shown a verdict is recorded by what showed it, once, and is not blind from then on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.models import Run
from review import services
from review.models import Assignment, Campaign, Exposure, Item, Score
from tests.people import make_person
from tests.pipeline.query_counts import count_queries
from tests.review.blinding.rewriting import add_work
from tests.review.desk.test_desk import score_next, script_of
from tests.review.maker import make_study

ClientFor = Callable[[User], Client]

pytestmark = pytest.mark.django_db


def seen_by(user: User) -> list[tuple[int | None, str]]:
    return list(Exposure.objects.filter(person=user).values_list("run", "where"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "where"),
    [
        pytest.param("run-detail", "run-detail", id="page of a run"),
        pytest.param("run-calls", "run-calls", id="its calls"),
        pytest.param("action-list", "action-list", id="list of actions"),
        pytest.param("action-detail", "action-detail", id="page of an action"),
        pytest.param("api:run-detail", "api:run-detail", id="run by API"),
        pytest.param("api:run-list", "api:run-list", id="runs by API"),
        pytest.param("api:action-list", "api:action-list", id="actions by API"),
    ],
)
def test_what_shows_a_verdict_writes_it_down_once(
    flagged: Item, curator: User, client_for: ClientFor, name: str, where: str
) -> None:
    assert flagged.run is not None
    keys = {"run": flagged.run_id, "action": flagged.run.action_id}
    key = next((keys[one] for one in keys if f"{one}-" in name and "list" not in name), None)
    url, client = reverse(name, args=[key] if key else []), client_for(curator)
    for _ in range(2):
        assert client.get(url).status_code == 200
    assert seen_by(curator) == [(flagged.run_id, where)]


@pytest.mark.parametrize(
    "model", ["run", "stage", "draft", "assessment", "feedback", "modelcall", "attempt"]
)
def test_the_records_show_verdicts_too(flagged: Item, client_for: ClientFor, model: str) -> None:
    """The list of them, and one alone; an administrator may be a reviewer as well."""
    assert flagged.run is not None
    add_work(flagged.run)
    for number, address in enumerate(("changelist", "change")):
        person, name = (
            make_person(f"ada-{number}", "administrator", "reviewer"),
            "pipeline_" + model,
        )
        row = apps.get_model("pipeline", model).objects.earliest("pk")
        keys = [row.pk] if address == "change" else []
        page = client_for(person).get(reverse(f"admin:{name}_{address}", args=keys))
        assert page.status_code == 200
        assert seen_by(person) == [(flagged.run_id, f"admin:{name}_{address}")]


@pytest.mark.slow
def test_who_is_shown_nothing_is_not_recorded(
    flagged: Item, reviewer: User, client_for: ClientFor
) -> None:
    client = client_for(reviewer)
    for url in (
        reverse("run-detail", args=[flagged.run_id]),
        reverse("action-list"),
        reverse("api:run-list"),
        reverse("item-review", args=[flagged.pk]),
    ):
        assert client.get(url).status_code == 200
    assert not Exposure.objects.exists()


def test_what_cannot_be_recorded_is_not_shown(
    flagged: Item, curator: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("review.blinding.exposure.write", fail)
    client = client_for(curator)
    client.raise_request_exception = False
    answer = client.get(reverse("run-detail", args=[flagged.run_id]))
    assert answer.status_code == 500 and "-path" not in answer.text


@pytest.mark.slow
def test_who_saw_the_verdict_before_is_not_blind_and_who_did_not_is(
    flagged: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    """It is seen as a curator, before the person is made a reviewer; others have scored and skipped it meanwhile."""
    later = make_person("lars", "curator")
    client_for(later).get(reverse("run-detail", args=[flagged.run_id]))
    later.groups.add(*reviewer.groups.all())
    later = User.objects.get(pk=later.pk)
    for person, value in ((second_reviewer, 0), (reviewer, 0)):
        assignment = services.claim_item(flagged, by=person)
        score_next(flagged, person, value)
        services.give_back(assignment, state=Assignment.State.SKIPPED, why="Not my field")
        client_for(later).get(reverse("run-detail", args=[flagged.run_id]))
    services.claim_item(flagged, by=later)
    for value in (0, 2, 2):
        score_next(flagged, later, value)
    assert set(Score.objects.filter(reviewer=later).values_list("blind", flat=True)) == {False}
    others = Score.objects.exclude(reviewer=later).values_list("blind", flat=True)
    assert list(others) == [True, True]


def test_somebody_elses_score_does_not_show_the_verdict_to_who_may_be_next(
    flagged: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    """Score, skip: the page of the run told the next reviewer, whose score then counted as blind."""
    assignment = services.claim_item(flagged, by=reviewer)
    score_next(flagged, reviewer, 0)
    services.give_back(assignment, state=Assignment.State.SKIPPED, why="Not my field")
    page = client_for(second_reviewer).get(reverse("run-detail", args=[flagged.run_id])).text
    assert "Hidden for now" in page and "-path" not in page
    services.claim_item(flagged, by=second_reviewer)
    score_next(flagged, second_reviewer, 0)
    assert Score.objects.get(reviewer=second_reviewer).blind


@pytest.mark.slow
def test_the_asker_who_looked_is_not_blind_and_who_did_not_look_is(
    flagged: Item, reviewer: User, client_for: ClientFor
) -> None:
    Run.objects.filter(pk=flagged.run_id).update(asked_by=reviewer)
    assignment = services.claim_item(flagged, by=reviewer)
    score_next(flagged, reviewer, 0)
    assert Score.objects.get().blind
    Score.objects.all().delete()
    services.give_back(assignment, state=Assignment.State.RELEASED)
    client_for(reviewer).get(reverse("run-detail", args=[flagged.run_id]))
    services.claim_item(flagged, by=reviewer)
    score_next(flagged, reviewer, 0)
    assert not Score.objects.get().blind


@pytest.mark.slow
def test_looking_up_after_the_score_what_the_desk_has_opened_is_nothing_new(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item = held_flagged.item
    score_next(item, reviewer, 0)
    client_for(reviewer).get(reverse("run-detail", args=[item.run_id]))
    for value in (2, 2):
        score_next(item, reviewer, value)
    assert set(Score.objects.values_list("blind", flat=True)) == {True}


@pytest.mark.slow
def test_between_the_stages_of_a_study_it_counts(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    manager.groups.add(*reviewer.groups.all())
    both = User.objects.get(pk=manager.pk)
    campaign = make_study(by=both, reviewers=[both], items=1)
    item = campaign.items.get()
    services.claim_next(campaign, by=both)
    score_next(item, both, 0)
    client_for(both).get(reverse("run-detail", args=[item.run_id]))
    for value in (2, 2):
        score_next(item, both, value)
    blind = Score.objects.order_by("pk").values_list("blind", flat=True)
    assert list(blind) == [True, False, False]


def test_a_list_by_verdicts_and_an_export_expose_the_whole_campaign(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    manager.groups.add(*reviewer.groups.all())
    both = User.objects.get(pk=manager.pk)
    campaign = make_study(by=both, reviewers=[both], items=1)
    Exposure.objects.create(person=both, campaign=campaign, what="file", where="test")
    services.claim_next(campaign, by=both)
    score_next(campaign.items.get(), both, 0)
    assert not Score.objects.get().blind


def test_a_score_in_the_queue_is_exposure_for_a_study_of_the_same_run(
    flagged: Item, manager: User, reviewer: User
) -> None:
    services.claim_item(flagged, by=reviewer)
    score_next(flagged, reviewer, 0)
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    item = campaign.items.get()
    Item.objects.filter(pk=item.pk).update(run=flagged.run_id)
    item.refresh_from_db()
    services.claim_item(item, by=reviewer)
    given = services.ScoreInput(stage="script", value=0, seen=script_of(item))
    assert not services.submit_score(item, given, by=reviewer).blind


@pytest.mark.slow
def test_without_blinding_nothing_is_marked(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, hides_verdict=False)
    item = campaign.items.get()
    services.claim_next(campaign, by=reviewer)
    client_for(reviewer).get(reverse("item-review", args=[item.pk]))
    assert seen_by(reviewer) == [(item.run_id, "item-review")]
    score_next(item, reviewer, 0)
    assert Score.objects.get().blind
    assert Campaign.objects.get(pk=campaign.pk).hides_verdict is False


@pytest.mark.slow
def test_what_was_noted_costs_one_statement_and_what_is_hidden_none(
    flagged: Item, curator: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, client = reverse("run-detail", args=[flagged.run_id]), client_for(curator)
    client.get(url)
    noted = count_queries(client, url)
    monkeypatch.setattr("review.blinding.exposure.write", lambda *_, **__: None)
    assert noted == count_queries(client, url) + 1
