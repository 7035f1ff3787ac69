"""A large study's report is worked out anew every few seconds at most; whoever keeps or copies it gets the newest."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from review.campaigns.services import adjudication
from review.models import Campaign
from review.report import services
from review.report.snapshots import take_snapshot
from tests.review.report.rows import Label, fill

ClientFor = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


def settle(campaign: Campaign, people: list[User], *, by: User) -> Callable[[], None]:
    (item,) = fill(campaign, [Label("correct", [(0, None, None), (2, None, None)])], people)

    def adjudicate() -> None:
        adjudication.adjudicate(item, stage="script", value=2, why="It is right.", by=by)

    return adjudicate


def scored(report: services.Document) -> int:
    (arm,) = report["configurations"]  # type: ignore[misc]
    numerator: int = arm["strict"]["first_pass_accuracy"]["numerator"]  # type: ignore[index]
    return numerator


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("is_large", [False, True])
def test_pages_and_api_show_a_report_of_a_moment_ago_in_a_large_study(
    is_large: bool,
    campaign: Campaign,
    reviewer: User,
    second_reviewer: User,
    manager: User,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if is_large:
        monkeypatch.setattr(services, "LARGE_STUDY", 1)
    adjudicate = settle(campaign, [reviewer, second_reviewer], by=manager)
    client, page = client_for(manager), f"/campaigns/{campaign.pk}/report/"
    api = f"/api/v1/reports/{campaign.pk}/"
    assert scored(client.get(page).context["report"]) == 0
    adjudicate()
    shown = client.get(page)
    assert scored(shown.context["report"]) == (0 if is_large else 1)
    assert ("Work it out now" in shown.text) == is_large
    answer = client.get(api).json()
    assert scored(answer) == (0 if is_large else 1)
    assert answer["details"]["kept_seconds"] == (15 if is_large else 0)
    assert scored(client.get(page, {"now": "1"}).context["report"]) == 1
    assert scored(client.get(api).json()) == 1, "what was asked for is shown from then on"


@pytest.mark.slow
@pytest.mark.django_db
def test_what_is_kept_or_copied_is_of_now(
    campaign: Campaign,
    reviewer: User,
    second_reviewer: User,
    manager: User,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "LARGE_STUDY", 1)
    adjudicate = settle(campaign, [reviewer, second_reviewer], by=manager)
    client = client_for(manager)
    client.get(f"/campaigns/{campaign.pk}/report/")
    before = client.get(f"/campaigns/{campaign.pk}/report/tables/figures.csv").text
    assert "First-pass" in before
    adjudicate()
    assert client.get(f"/campaigns/{campaign.pk}/report/tables/figures.csv").text != before
    assert scored(take_snapshot(campaign, name="Now", by=manager).data) == 1


@pytest.mark.django_db
def test_a_change_of_the_rules_shows_at_once(
    campaign: Campaign,
    reviewer: User,
    second_reviewer: User,
    manager: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "LARGE_STUDY", 1)
    adjudicate = settle(campaign, [reviewer, second_reviewer], by=manager)
    services.recent_report(campaign)
    adjudicate()
    assert scored(services.recent_report(campaign)) == 0
    campaign.primary_criterion = "partial"
    assert scored(services.recent_report(campaign)) == 1
