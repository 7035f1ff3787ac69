"""The primary comparison is read the way it was named, everywhere; and what was planned of it beside what came."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from pipeline.models import Configuration
from review.models import Campaign
from review.report.services import make_report
from review.study.planning import power
from tests.review.maker import add_configuration
from tests.review.report.rows import Label, fill
from tests.review.report.test_overview_page import head_of
from tests.review.report.test_report_pages import words_of

ClientFor = Callable[[User], Client]
RIGHT, WRONG = Label("", [(2, None, None)]), Label("", [(0, None, None)])
NAME = "first_pass_accuracy"


@pytest.fixture
def study(campaign: Campaign, reviewer: User) -> Campaign:
    """The later configuration is right on 1 of 10 cases, the earlier one on 4 others; a third on none."""
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
    assert isinstance(details, dict)
    pairs = {(one["first"], one["second"]): one for one in details["comparisons"]}
    assert set(pairs) == {("second", "imported"), ("imported", "third"), ("second", "third")}
    found = pairs["second", "imported"]["strict"][NAME]
    assert (found["gained"], found["lost"], found["value"]) == (4, 1, pytest.approx(0.3))
    assert found["low"] < 0.3 < found["high"] and found["is_primary"]
    primary = details["p_values"]["primary"]
    assert (primary["first"], primary["second"]) == ("second", "imported")
    assert primary["value"] == pytest.approx(0.3)
    assert [primary["low"], primary["high"]] == [found["low"], found["high"]]


def test_the_head_says_the_difference_among_three_configurations(
    study: Campaign, manager: User, client_for: ClientFor
) -> None:
    page = client_for(manager).get(f"/campaigns/{study.pk}/report/").text
    assert "+30.0 % from second to imported" in words_of(head_of(page))


@pytest.mark.slow
def test_the_plan_is_beside_the_primary_pair_alone(
    study: Campaign, manager: User, client_for: ClientFor
) -> None:
    client = client_for(manager)
    address = f"/campaigns/{study.pk}/report/tables/plan.csv"
    lines = client.get(address).text.splitlines()
    assert '"Only the second is right: second, imported",30.0 %,40.0 %' in lines
    assert '"Only the first is right: second, imported",10.0 %,10.0 %' in lines
    assert not any("third" in line for line in lines)
    reached = f"{100 * power(0.4, 0.1, 10):.1f} %"
    (said,) = [line for line in lines if "Power for the observed shares: second, imported" in line]
    assert said.endswith(f"80.0 %,{reached}") and "no evidence beside p" in said
    # It tells what the p value does, and an open study shows none.
    Campaign.objects.filter(pk=study.pk).update(state="open")
    cache.clear()
    assert "Power for" not in client.get(address).text
