"""The rubric changes in the middle: somebody says what becomes of earlier scores, and it is on record."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from review import services
from review.campaigns.services import editing
from review.campaigns.services.rubrics import count_undecided
from review.models import Campaign, Score, SentBack
from review.report.threats.counts import report_threats
from tests.review.maker import make_study
from tests.review.queue.test_studies import give

ClientFor = Callable[[User], Client]


@pytest.fixture
def boss(manager: User, client_for: ClientFor) -> Client:
    return client_for(manager)


@pytest.fixture
def campaign(boss: Client, manager: User, reviewer: User) -> Campaign:
    """Two items done, then the rubric was changed."""
    made = make_study(by=manager, reviewers=[reviewer], items=3)
    for _ in range(2):
        assignment = services.claim_next(made, by=reviewer)
        assert assignment is not None
        give(assignment.item, reviewer, 0, 2, 2)
    answer = boss.post(
        f"/campaigns/{made.pk}/setup/rubric/", {"rubric": "Paths count.", "go_on": "1"}
    )
    # It stays on this step: a question has come up.
    assert answer["Location"] == f"/campaigns/{made.pk}/setup/rubric/"
    return made


def decide(boss: Client, campaign: Campaign, do: str, why: str = "Only the words changed.") -> int:
    url = f"/campaigns/{campaign.pk}/rubric/older/"
    return boss.post(url, {"do": do, "why": why}).status_code


def versions(campaign: Campaign) -> list[dict[str, object]]:
    rubric = report_threats(campaign)["rubric"]
    assert isinstance(rubric, dict)
    return list(rubric["versions"])


@pytest.mark.slow
def test_the_question_is_asked_until_it_is_answered(boss: Client, campaign: Campaign) -> None:
    page = boss.get(f"/campaigns/{campaign.pk}/setup/rubric/").content.decode()
    assert "2 reviews were done under an earlier version" in page
    threats = boss.get(f"/campaigns/{campaign.pk}/report/threats/").content.decode()
    assert "undecided" in threats
    asked = "nothing is said yet of the scores given before"
    assert asked in boss.get(f"/campaigns/{campaign.pk}/").content.decode()
    decide(boss, campaign, "keep")
    assert asked not in boss.get(f"/campaigns/{campaign.pk}/").content.decode()


@pytest.mark.slow
def test_earlier_scores_are_kept_and_that_is_in_the_report(
    boss: Client, campaign: Campaign, manager: User
) -> None:
    assert decide(boss, campaign, "keep") == 302
    assert count_undecided(campaign) == 0
    assert not SentBack.objects.exists()
    newest, oldest = versions(campaign)
    assert (newest["scores"], oldest["scores"]) == (0, 6)
    (choice,) = newest["choices"]  # type: ignore[misc]
    assert (choice["what"], choice["items"], choice["by"]) == ("earlier scores kept", 2, "mona")
    threats = boss.get(f"/campaigns/{campaign.pk}/report/threats/").content.decode()
    assert "Only the words changed." in threats
    assert (
        "under an earlier version"
        not in boss.get(f"/campaigns/{campaign.pk}/setup/rubric/").content.decode()
    )


@pytest.mark.slow
def test_reviewers_are_asked_again_and_their_new_scores_name_the_new_version(
    boss: Client, campaign: Campaign, reviewer: User
) -> None:
    assert decide(boss, campaign, "again", "Look at the paths.") == 302
    assert SentBack.objects.filter(why="Look at the paths.").count() == 2
    assert count_undecided(campaign) == 0
    assignment = services.claim_next(campaign, by=reviewer)
    assert assignment is not None
    desk = services.open_item(assignment.item, reviewer)
    (step, *_) = desk.steps
    assert step.draft is not None
    services.submit_score(
        assignment.item,
        services.ScoreInput(stage="script", value=1, seen=step.draft.pk),
        by=reviewer,
    )
    newest = Score.objects.latest("pk")
    assert newest.rubric is not None
    # Verdict and feedback have been seen by now: it is on record, and the figures use the score before.
    assert (newest.rubric.number, newest.blind) == (2, False)
    (choice,) = versions(campaign)[0]["choices"]  # type: ignore[misc]
    assert (choice["what"], choice["items"]) == ("earlier scores asked again", 2)


@pytest.mark.slow
def test_the_next_version_brings_the_question_up_again(
    boss: Client, campaign: Campaign, manager: User
) -> None:
    decide(boss, campaign, "keep")
    editing.change_campaign(campaign, by=manager, rubric="Quoting counts too.")
    assert count_undecided(campaign) == 2


@pytest.mark.slow
def test_it_is_answered_over_the_api_too(boss: Client, campaign: Campaign) -> None:
    url = f"/api/v1/campaigns/{campaign.pk}/earlier-scores/"
    json = "application/json"
    assert boss.post(url, {"do": "keep", "why": " "}, json).status_code == 422
    assert boss.post(url, {"do": "ask_again", "why": "Paths."}, json).json() == {"reviews": 2}
    assert boss.post(url, {"do": "keep", "why": "Too late."}, json).status_code == 409


@pytest.mark.slow
@pytest.mark.parametrize("do", ["keep", "again"])
def test_without_a_reason_or_a_question_nothing_is_recorded(
    boss: Client, campaign: Campaign, do: str
) -> None:
    assert decide(boss, campaign, do, " ") == 422
    assert decide(boss, campaign, "keep") == 302
    assert decide(boss, campaign, do) == 409
    assert len(versions(campaign)[0]["choices"]) == 1  # type: ignore[arg-type]


@pytest.mark.slow
def test_only_managers_decide(campaign: Campaign, reviewer: User, client_for: ClientFor) -> None:
    assert decide(client_for(reviewer), campaign, "keep") == 403
    assert count_undecided(campaign) == 2
