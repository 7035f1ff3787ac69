"""Tests of the report built from real rows, and of the maximum age of a large study's report."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from pipeline.models import Run
from review.campaigns.services import adjudication
from review.counting import tallies
from review.models import Campaign, Item, Score
from review.report import services
from review.report.snapshots import take_snapshot
from review.report.threats.counts import report_threats
from tests.review.maker import ClientFor
from tests.review.report.rows import Label, fill
from tests.review.study.test_golden_case import PARTIAL, STRICT


def printed(name: str) -> dict[str, Any]:
    out = StringIO()
    call_command("study_report", name, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_the_command_prints_every_figure_of_the_golden_case(golden: Campaign) -> None:
    document = printed("Golden")

    assert list(document) == [
        *("campaign", "items", "configurations", "agreement", "comparisons", "p_values", "gain"),
        *("sensitivity", "threats"),
    ]
    assert (document["campaign"], document["items"]) == ("Golden", 153)
    (arm,) = document["configurations"]
    for criterion, shares in (("strict", STRICT), ("partial", PARTIAL)):
        for name, share in shares.items():
            figure = arm[criterion][name]
            assert (figure["numerator"], figure["denominator"]) == share, (criterion, name)
    assert arm["strict"]["execution_agreement"]["value"] is None
    out = StringIO()
    call_command("study_report", "Golden", stdout=out)
    assert "first_pass_accuracy" in out.getvalue() and "65/153" in out.getvalue()
    with pytest.raises(CommandError) as refused:
        call_command("study_report", "No such study", "--json")
    assert refused.value.returncode == 2
    item = golden.items.order_by("pk")[0]
    Item.objects.filter(pk=item.pk).update(state=Item.State.WITHDRAWN)
    tallies.note_due(golden, [item.pk])
    assert printed("Golden")["items"] == 152


def test_an_adjudication_resolves_an_item(
    campaign: Campaign, reviewer: User, second_reviewer: User, manager: User
) -> None:
    label = Label("correct", [(0, None, None), (2, None, None)])
    (item,) = fill(campaign, [label], [reviewer, second_reviewer])
    services.make_report(campaign)
    assert campaign.items.filter(disputed=True).count() == 1
    adjudication.adjudicate(item, stage="script", value=2, why="It is right.", by=manager)
    first = printed("Golden")["configurations"][0]["strict"]["first_pass_accuracy"]
    assert (first["numerator"], first["denominator"], first["unresolved"]) == (1, 1, 0)
    settled = {"settled": 1, "overturned": {"strict": 0, "partial": 0}}
    assert report_threats(campaign)["adjudications"] == settled


def test_the_demo_model_is_marked_and_reviewers_time_added_up(golden: Campaign) -> None:
    item = golden.items.order_by("pk").first()
    assert item is not None and item.run_id is not None
    Run.objects.filter(pk=item.run_id).update(demo=True)
    Score.objects.filter(item=item).update(active_seconds=90.0)
    report = services.make_report(golden)
    assert report["configurations"][0]["demo"] is True
    (arm,) = report["details"]["arms"]
    assert arm["time"] == {"items": 1, "seconds": 90}


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    cache.clear()


def settle(campaign: Campaign, people: list[User], *, by: User) -> Callable[[], None]:
    (item,) = fill(campaign, [Label("correct", [(0, None, None), (2, None, None)])], people)

    def adjudicate() -> None:
        adjudication.adjudicate(item, stage="script", value=2, why="It is right.", by=by)

    return adjudicate


def scored(report: services.Document) -> int:
    (arm,) = report["configurations"]
    numerator: int = arm["strict"]["first_pass_accuracy"]["numerator"]
    return numerator


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
    assert ("Refresh now" in shown.text) == is_large
    answer = client.get(api).json()
    assert scored(answer) == (0 if is_large else 1)
    assert answer["details"]["kept_seconds"] == (15 if is_large else 0)
    assert scored(client.get(page, {"now": "1"}).context["report"]) == 1
    assert scored(client.get(api).json()) == 1, "what was asked for is shown from then on"


@pytest.mark.django_db
def test_what_is_kept_or_copied_is_of_now(
    campaign: Campaign,
    reviewer: User,
    second_reviewer: User,
    manager: User,
    as_manager: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "LARGE_STUDY", 1)
    adjudicate = settle(campaign, [reviewer, second_reviewer], by=manager)
    as_manager.get(f"/campaigns/{campaign.pk}/report/")
    before = as_manager.get(f"/campaigns/{campaign.pk}/report/tables/figures.csv").text
    assert "First-pass" in before
    adjudicate()
    assert as_manager.get(f"/campaigns/{campaign.pk}/report/tables/figures.csv").text != before
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
