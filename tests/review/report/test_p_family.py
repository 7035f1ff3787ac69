"""Tests that Holm's correction uses the family fixed at opening, and that the primary comparison is shown."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from pipeline.models import Configuration
from review.campaigns.services.states import move_campaign
from review.models import Campaign
from review.queue.members import add_member
from review.report.services import make_report
from review.study.planning import power
from tests.review.maker import add_configuration
from tests.review.report.rows import Label, fill, golden_labels
from tests.review.report.test_overview_page import head_of
from tests.review.report.test_report_pages import words_of


@pytest.fixture
def opened(campaign: Campaign, manager: User, reviewer: User) -> Campaign:
    """Return a campaign with two configurations that was opened and closed. A third configuration was added in
    between."""
    labels = golden_labels()[40:60]
    for name in ("second", "third"):
        add_configuration(name)
    for name in ("imported", "second"):
        fill(campaign, labels, [reviewer], configuration=name)
    add_member(campaign, reviewer, by=manager)
    move_campaign(campaign, Campaign.State.OPEN, by=manager)
    fill(campaign, labels, [reviewer], configuration="third")
    return move_campaign(campaign, Campaign.State.CLOSED, by=manager)


def test_family_is_fixed_at_opening(opened: Campaign, as_manager: Client) -> None:
    said = make_report(opened)["details"]["p_values"]
    # Under both criteria: the net effect of each configuration and five figures for each pair. No script was executed
    # in this study. The comparisons of the third configuration were added later.
    assert said["fixed"] and (said["family"], said["later"]) == (2 * (3 + 3 * 5), 2 * (1 + 2 * 5))
    page = as_manager.get(f"/campaigns/{opened.pk}/report/").text
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert "covers the 36 comparisons that were fixed when the study opened" in words
    assert "22 of them were added later" in words
    # Under both criteria: two figures of experts' refinements for each of the two configurations that existed at
    # opening.
    assert "They exclude 8 comparisons of refinements from experts’ feedback" in words


def test_pairless_figure_is_in_family(campaign: Campaign, manager: User, reviewer: User) -> None:
    """One of the two configurations has no final score, so the two can't be compared, but the comparison still
    counts."""
    add_configuration("second")
    labels = golden_labels()[40:60]
    for name in ("imported", "second"):
        fill(campaign, labels, [reviewer], configuration=name)
    add_member(campaign, reviewer, by=manager)
    move_campaign(campaign, Campaign.State.OPEN, by=manager)
    campaign.items.filter(configuration__name="second").update(overlap=2)
    for item in campaign.items.filter(configuration__name="second"):
        item.scores.all().delete()
    move_campaign(campaign, Campaign.State.CLOSED, by=manager)
    campaign.refresh_from_db()
    report = make_report(campaign)
    said = report["details"]["p_values"]
    net = report["configurations"][0]["strict"]["net"]
    assert said["without"] >= 8
    assert net["p_holm"] == min(1, said["family"] * net["p_value"])


def test_pilot_items_are_in_family(campaign: Campaign, manager: User, reviewer: User) -> None:
    """The family is fixed at opening, even if the pilot was paused before. Later additions are not part of it."""
    add_member(campaign, reviewer, by=manager)
    state = Campaign.State
    for name, moves in (
        ("imported", (state.PILOT,)),
        ("second", (state.PAUSED, state.OPEN)),
        ("third", (state.PAUSED, state.OPEN)),
    ):
        if name != "imported":
            add_configuration(name)
        fill(campaign, golden_labels()[40:60], [reviewer], configuration=name)
        if name == "imported":
            campaign.items.update(state="open")
        for to in moves:
            campaign = move_campaign(campaign, to, by=manager)
    assert {one[2] for one in campaign.p_family} == {"imported", "second"}


def test_report_is_cached_by_family(opened: Campaign, as_manager: Client) -> None:
    """Test other families of the same size, and compare an empty family with a missing one."""
    said = []
    for family in ([["net", "strict", "imported", ""]], [["net", "strict", "third", ""]], [], None):
        Campaign.objects.filter(pk=opened.pk).update(p_family=family)
        opened.refresh_from_db()
        p_values = make_report(opened)["details"]["p_values"]
        said.append((p_values["fixed"], p_values["later"]))
    assert said[0][0] and said[2] == (True, 0) and said[3] == (False, 0)
    page = as_manager.get(f"/campaigns/{opened.pk}/report/").text
    assert "no family was fixed when the study opened" in html.unescape(page)


def test_the_net_of_the_only_configuration_stands_alone_where_it_was_named(
    campaign: Campaign, manager: User, reviewer: User, as_manager: Client
) -> None:
    fill(campaign, golden_labels(), [reviewer])
    add_member(campaign, reviewer, by=manager)
    Campaign.objects.filter(pk=campaign.pk).update(primary_figure="net", primary_criterion="strict")
    campaign.refresh_from_db()
    closed = move_campaign(
        move_campaign(campaign, Campaign.State.OPEN, by=manager), Campaign.State.CLOSED, by=manager
    )
    report = make_report(closed)
    said = report["details"]["p_values"]
    (arm,) = report["configurations"]
    strict, partial = arm["strict"]["net"], arm["partial"]["net"]
    assert (strict["is_primary"], strict["p_holm"]) == (True, None)
    assert strict["p_value"] == pytest.approx(0.0015, abs=5e-5)
    # The other member of the family is the same figure under the other criterion.
    assert said["family"] == 1 and partial["p_holm"] == partial["p_value"]
    assert (said["primary"]["figure"], said["primary"]["first"]) == ("net", "imported")
    page = as_manager.get(f"/campaigns/{closed.pk}/report/").text
    assert "primary (not adjusted)" in html.unescape(page)


@pytest.mark.slow
def test_primary_figure_is_exported(campaign: Campaign, reviewer: User, tmp_path: Path) -> None:
    fill(campaign, golden_labels()[:20], [reviewer])
    Campaign.objects.filter(pk=campaign.pk).update(
        primary_figure="net", primary_criterion="partial"
    )
    file = str(tmp_path / "out.jsonl")
    call_command("export_campaign", campaign.name, file)
    call_command("import_items", "Again", file)
    again = Campaign.objects.get(name="Again")
    assert (again.primary_figure, again.primary_criterion) == ("net", "partial")


RIGHT, WRONG = Label("", [(2, None, None)]), Label("", [(0, None, None)])
NAME = "first_pass_accuracy"


@pytest.fixture
def study(campaign: Campaign, reviewer: User) -> Campaign:
    """Return a study with three configurations and ten cases.

    The later configuration is right on one case, the earlier configuration on four others, and the third on no case.
    """
    labels = {
        "imported": [*[RIGHT] * 4, *[WRONG] * 6],
        "second": [*[WRONG] * 9, RIGHT],
        "third": [WRONG] * 10,
    }
    for name, some in labels.items():
        if name != "imported":
            add_configuration(name)
        fill(campaign, some, [reviewer], configuration=name)
    Campaign.objects.filter(pk=campaign.pk).update(
        primary_figure=NAME,
        primary_criterion="strict",
        primary_first=Configuration.objects.get(name="second"),
        primary_second=Configuration.objects.get(name="imported"),
        planned_items=10,
        plan={
            "aim": "paired",
            "assumed": {"gained": 0.3, "lost": 0.1, "power": 0.8, "deff": 1.0},
            "items": 10,
            "independent": 10,
            "curve": [[10, 0.8]],
        },
    )
    campaign.refresh_from_db()
    return campaign


def test_the_comparison_is_turned_the_way_it_was_named(study: Campaign) -> None:
    details = make_report(study)["details"]
    pairs = {(one["first"], one["second"]): one for one in details["comparisons"]}
    assert set(pairs) == {("second", "imported"), ("imported", "third"), ("second", "third")}
    found = pairs["second", "imported"]["strict"][NAME]
    assert (found["gained"], found["lost"], found["value"]) == (4, 1, pytest.approx(0.3))
    assert found["low"] < 0.3 < found["high"] and found["is_primary"]
    primary = details["p_values"]["primary"]
    assert (primary["first"], primary["second"]) == ("second", "imported")
    assert primary["value"] == pytest.approx(0.3)
    assert [primary["low"], primary["high"]] == [found["low"], found["high"]]


def test_the_plan_is_beside_the_primary_pair_alone(study: Campaign, as_manager: Client) -> None:
    page = as_manager.get(f"/campaigns/{study.pk}/report/").text
    assert "+30.0 pp from second to imported" in words_of(head_of(page))
    address = f"/campaigns/{study.pk}/report/tables/plan.csv"
    lines = as_manager.get(address).text.splitlines()
    assert '"Correct only with the second configuration: second, imported",,30.0,,40.0' in lines
    assert '"Correct only with the first configuration: second, imported",,10.0,,10.0' in lines
    assert not any("third" in line for line in lines)
    reached = f"{100 * power(0.4, 0.1, 10):.1f}"
    (said,) = [line for line in lines if "Power for the observed shares: second, imported" in line]
    assert said.endswith(f",80.0,,{reached}") and "no evidence to p" in said
    # The text would reveal the p value, which an open study does not show.
    Campaign.objects.filter(pk=study.pk).update(state="open")
    cache.clear()
    assert "Power for" not in as_manager.get(address).text
