"""Tests that blinded reviewers see no verdict, model or other reviewer, and that views of a verdict are recorded."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve, reverse

from bench.review.blinding import area
from core.web.public_keys import ITEM, find_key, public_key, read_public
from pipeline.models import Action, Assessment, Run
from review import services
from review.campaigns.services import states
from review.desk.shown_keys import find_draft, name_draft
from review.models import Assignment, Campaign, Exposure, Item, Score
from review.queue.reviewer_checks.gold import mark_case
from review.report.threats.blindness import report_unblinded
from tests.people import make_person
from tests.permissions.crawl import dead_keys
from tests.query_counts import count_queries
from tests.review.blinding.hidden_words import SECRETS, make_secret_item, told
from tests.review.blinding.rewriting import add_work
from tests.review.desk.test_decide import decide
from tests.review.desk.test_desk import score_next, script_of
from tests.review.maker import ClientFor, make_study
from tests.review.queue.test_studies import give

pytestmark = pytest.mark.django_db


@pytest.fixture
def item(manager: User, reviewer: User) -> Item:
    return make_secret_item(manager, reviewer)


def test_what_is_hidden_is_not_found_by_a_filter(
    item: Item, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    configuration = SECRETS["configuration"]
    for query in (
        "runs/?verdict=incorrect",
        f"runs/?configuration={configuration}",
        "actions/?verdict=incorrect",
    ):
        assert client_for(reviewer).get(f"/api/v1/{query}").json()["results"] == [], query
        assert len(client_for(manager).get(f"/api/v1/{query}").json()["results"]) == 1, query


def test_the_verdict_stays_hidden_until_the_last_stage_and_others_after_it(
    item: Item, reviewer: User, client_for: ClientFor
) -> None:
    client, review = client_for(reviewer), reverse("item-review", args=[item.pk])
    score_next(item, reviewer, 0)
    assert told(client.get(review).text) == ["feedback"]
    for value in (2, 2):
        score_next(item, reviewer, value)
    assert {"reviewer", "comment", "model", "configuration", "reference", "execution"}.isdisjoint(
        told(client.get(review).text)
    )
    assert told(client.get(reverse("run-detail", args=[item.run_id])).text) == []


def test_a_manager_and_everybody_after_the_end_may_see(
    item: Item, reviewer: User, manager: User, client_for: ClientFor
) -> None:
    url = reverse("run-detail", args=[item.run_id])
    assert "refined" in told(client_for(manager).get(url).text)
    states.move_campaign(item.campaign, Campaign.State.CLOSED, by=manager)
    assert "refined" in told(client_for(reviewer).get(url).text)


def test_what_one_has_in_hand_in_the_live_queue_is_hidden_until_it_is_scored(
    held_flagged: Assignment, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    url = f"/api/v1/runs/{held_flagged.item.run_id}/"
    assert client_for(reviewer).get(url).json()["verdict"] is None
    score_next(held_flagged.item, reviewer, 0)
    assert client_for(reviewer).get(url).json()["verdict"] == "incorrect"
    # The reviewer who scored the item may still skip it, and another reviewer would then get it.
    assert client_for(second_reviewer).get(url).json()["verdict"] is None


def test_what_waits_is_hidden_from_whoever_might_score_it(
    flagged: Item, reviewer: User, second_reviewer: User, curator: User, client_for: ClientFor
) -> None:
    url, page = f"/api/v1/runs/{flagged.run_id}/", reverse("run-detail", args=[flagged.run_id])
    both = make_person("ren", "reviewer", "curator")
    for person in (reviewer, second_reviewer, both):
        assert client_for(person).get(url).json()["verdict"] is None
        shown = client_for(person).get(page).text
        assert "Hidden for now" in shown and "-path" not in shown
    assert client_for(curator).get(url).json()["verdict"] == "incorrect"


def test_who_asked_for_the_script_or_for_the_verdict_sees_it(
    flagged: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    url = f"/api/v1/runs/{flagged.run_id}/"
    Run.objects.filter(pk=flagged.run_id).update(asked_by=reviewer)
    assert client_for(reviewer).get(url).json()["verdict"] == "incorrect"
    assert client_for(second_reviewer).get(url).json()["verdict"] is None
    services.claim_item(flagged, by=second_reviewer)
    services.reveal(flagged, "verdict", by=second_reviewer)
    assert client_for(second_reviewer).get(url).json()["verdict"] == "incorrect"


def test_what_is_decided_is_hidden_no_more(
    flagged: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    services.claim_item(flagged, by=reviewer)
    decide(flagged, by=reviewer, kind="reject", reason="No.")
    url = f"/api/v1/runs/{flagged.run_id}/"
    assert client_for(second_reviewer).get(url).json()["verdict"] == "incorrect"


def test_score_records_visible_parts_and_known_action(item: Item, reviewer: User) -> None:
    score_next(item, reviewer, 0)
    visible = Score.objects.get(reviewer=reviewer).visible
    assert visible == {
        "verdict": False,
        "feedback": False,
        "models": False,
        "reviewers": False,
        "execution": False,
        "reference": False,
        "asked": False,
        "seen_before": False,
    }
    Run.objects.filter(pk=item.run_id).update(asked_by=reviewer)
    Action.objects.filter(pk=item.run.action_id).update(asked_by=reviewer)
    score_next(Item.objects.get(pk=item.pk), reviewer, 2)
    assert Score.objects.filter(reviewer=reviewer).last().visible["asked"] is True


def seen_by(user: User) -> list[tuple[int | None, str]]:
    return list(Exposure.objects.filter(person=user).values_list("run", "where"))


def test_what_shows_a_verdict_writes_it_down_once(flagged: Item, client_for: ClientFor) -> None:
    run, action = [flagged.run_id], [flagged.run.action_id]
    for name, keys in (
        ("run-detail", run),
        ("run-calls", run),
        ("action-list", []),
        ("action-detail", action),
        ("api:run-detail", run),
        ("api:run-list", []),
        ("api:action-list", []),
    ):
        person = make_person(f"curator of {name}", "curator")
        client = client_for(person)
        for _ in range(2):
            assert client.get(reverse(name, args=keys)).status_code == 200
        assert seen_by(person) == [(flagged.run_id, name)]


def test_the_records_show_verdicts_too(flagged: Item, client_for: ClientFor) -> None:
    """The lists and single records are both tested. An administrator may also be a reviewer."""
    add_work(flagged.run)
    for model in ("run", "stage", "draft", "assessment", "feedback", "modelcall", "attempt"):
        row = apps.get_model("pipeline", model).objects.earliest("pk")
        for address, keys in (("changelist", []), ("change", [row.pk])):
            person = make_person(f"ada-{model}-{address}", "administrator", "reviewer")
            name = f"admin:pipeline_{model}_{address}"
            page = client_for(person).get(reverse(name, args=keys))
            assert page.status_code == 200, name
            assert seen_by(person) == [(flagged.run_id, name)]


def test_who_is_shown_nothing_is_not_recorded(flagged: Item, as_reviewer: Client) -> None:
    for url in (
        reverse("run-detail", args=[flagged.run_id]),
        reverse("action-list"),
        reverse("api:run-list"),
        reverse("item-review", args=[flagged.pk]),
    ):
        assert as_reviewer.get(url).status_code == 200
    assert not Exposure.objects.exists()


def test_what_cannot_be_recorded_is_not_shown(
    flagged: Item, as_curator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("review.blinding.exposure.write", fail)
    as_curator.raise_request_exception = False
    answer = as_curator.get(reverse("run-detail", args=[flagged.run_id]))
    assert answer.status_code == 500 and "-path" not in answer.text


def test_who_saw_the_verdict_before_is_not_blind_and_who_did_not_is(
    flagged: Item, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    """A curator sees the verdict, then becomes a reviewer. By then, other reviewers have scored and skipped the
    item."""
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
    """After a score and a skip, the run's page must hide the verdict from the next reviewer, who is still blind."""
    assignment = services.claim_item(flagged, by=reviewer)
    score_next(flagged, reviewer, 0)
    services.give_back(assignment, state=Assignment.State.SKIPPED, why="Not my field")
    page = client_for(second_reviewer).get(reverse("run-detail", args=[flagged.run_id])).text
    assert "Hidden for now" in page and "-path" not in page
    services.claim_item(flagged, by=second_reviewer)
    score_next(flagged, second_reviewer, 0)
    assert Score.objects.get(reviewer=second_reviewer).blind


def test_asker_is_blind_unless_seen(flagged: Item, reviewer: User, client_for: ClientFor) -> None:
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


def test_looking_up_after_the_score_what_the_desk_has_opened_is_nothing_new(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item = held_flagged.item
    score_next(item, reviewer, 0)
    client_for(reviewer).get(reverse("run-detail", args=[item.run_id]))
    for value in (2, 2):
        score_next(item, reviewer, value)
    assert set(Score.objects.values_list("blind", flat=True)) == {True}


def test_look_between_stages_counts(manager: User, reviewer: User, client_for: ClientFor) -> None:
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


def test_export_exposes_whole_study(manager: User, reviewer: User, client_for: ClientFor) -> None:
    manager.groups.add(*reviewer.groups.all())
    both = User.objects.get(pk=manager.pk)
    campaign = make_study(by=both, reviewers=[both], items=1)
    Exposure.objects.create(person=both, campaign=campaign, what="file", where="test")
    services.claim_next(campaign, by=both)
    score_next(campaign.items.get(), both, 0)
    assert not Score.objects.get().blind


def test_queue_score_exposes_study_item(flagged: Item, manager: User, reviewer: User) -> None:
    services.claim_item(flagged, by=reviewer)
    score_next(flagged, reviewer, 0)
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    item = campaign.items.get()
    Item.objects.filter(pk=item.pk).update(run=flagged.run_id)
    item.refresh_from_db()
    services.claim_item(item, by=reviewer)
    given = services.ScoreInput(stage="script", value=0, seen=script_of(item))
    assert not services.submit_score(item, given, by=reviewer).blind


def test_open_study_marks_nothing(manager: User, reviewer: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, hides_verdict=False)
    item = campaign.items.get()
    services.claim_next(campaign, by=reviewer)
    client_for(reviewer).get(reverse("item-review", args=[item.pk]))
    assert seen_by(reviewer) == [(item.run_id, "item-review")]
    score_next(item, reviewer, 0)
    assert Score.objects.get().blind
    assert Campaign.objects.get(pk=campaign.pk).hides_verdict is False


def test_what_was_noted_costs_one_statement_and_what_is_hidden_none(
    flagged: Item, curator: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, client = reverse("run-detail", args=[flagged.run_id]), client_for(curator)
    client.get(url)
    noted = count_queries(client, url)
    monkeypatch.setattr("review.blinding.exposure.write", lambda *_, **__: None)
    assert noted == count_queries(client, url) + 1


def test_item_keys_have_one_public_form() -> None:
    keys = [*range(2_000), 2**40, 2**52 - 1]
    shown = [public_key(ITEM, key) for key in keys]
    assert len(set(shown)) == len(keys) and all(0 <= one < 2**52 for one in shown)
    assert [find_key(ITEM, one) for one in shown] == keys
    assert public_key(ITEM, 7) != public_key("draft", 7)
    texts = ("", "x", "-1", "١", "9" * 19, str(2**52))
    assert [read_public(ITEM, text) for text in texts] == [0] * 6
    address = reverse("item-review", args=[123])
    assert address == f"/items/{public_key(ITEM, 123)}/" and address.split("/")[2] != "123"
    assert resolve(address).kwargs == {"pk": 123}


def test_the_order_and_the_gaps_of_keys_do_not_show() -> None:
    keys = list(range(4_000))
    shown = {key: public_key(ITEM, key) for key in keys}
    later = set(keys[2_000:])
    assert 0.46 < area(shown, later, set(keys)) < 0.54
    # A key difference of one has the same effect as a difference of a hundred.
    near = {key: abs(shown[key + 1] - shown[key]) for key in keys[:2_000]}
    far = {key + 5_000: abs(shown[key + 100] - shown[key]) for key in keys[:2_000]}
    assert 0.46 < area(near | far, set(far), set(near) | set(far)) < 0.54


@pytest.mark.django_db
def test_a_draft_has_another_name_in_every_item(manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    first, second = campaign.items.order_by("pk")
    key = first.run.drafts.get(number=1).pk
    names = {name_draft(first.pk, key), name_draft(second.pk, key), public_key("draft", key), key}
    assert len(names) == 4
    assert find_draft(first.pk, name_draft(first.pk, key)) == key


def test_training_round_shows_no_verdict_and_unblinds_no_reviewer(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2)
    item = campaign.items.order_by("pk")[0]
    mark_case(item.case, "training", known={"script": 0, "why": "It misses *.log."}, by=manager)
    assert services.claim_next(campaign, by=reviewer).item == item
    give(item, reviewer, 0, 2, 2)
    addresses = (
        reverse("item-review", args=[item.pk]),
        reverse("api:item-detail", args=[public_key(ITEM, item.pk)]),
    )
    client, token = client_for(reviewer), re.compile(r"\b\w{64}\b")
    seen = []
    for verdict in ("incorrect", "correct"):
        Run.objects.filter(pk=item.run_id).update(verdict=verdict)
        Assessment.objects.filter(draft__run=item.run_id).update(verdict=verdict)
        answers = [client.get(address) for address in addresses]
        assert [answer.status_code for answer in answers] == [200, 200]
        seen.append([token.sub("", answer.text) for answer in answers])
    assert "It misses *.log." in seen[0][0] and seen[0] == seen[1]
    assert (seen_by(reviewer), report_unblinded(campaign)) == ([], [])
    assert "↵" in seen[0][0] and dead_keys(seen[0][0]) == []
