"""How many items a study needs is worked out on a page of its set-up, kept, and fixed when it opens."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from review.campaigns import services
from review.campaigns.services import rules
from review.models import Campaign, Score
from review.queue.members import add_member
from tests.review.maker import make_study
from tests.review.report.rows import Label, fill

ClientFor = Callable[[User], Client]
SHARE = {"share": "42", "half_width": "8", "deff": "1.5"}
PAIRED = {"gained": "15", "lost": "5", "power": "80", "deff": "1"}
AGREEMENT = {
    **{"alpha": "0.7", "width": "0.2", "reviewers": "2", "deff": "1"},
    **{"incorrect": "40", "partial": "15", "correct": "45"},
}


@pytest.fixture
def boss(manager: User, client_for: ClientFor) -> Client:
    return client_for(manager)


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return rules.create_campaign("Study", by=manager)


def page(campaign: Campaign, aim: str) -> str:
    return f"/campaigns/{campaign.pk}/setup/size/?for={aim}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("aim", "typed", "items"),
    [
        pytest.param("share", SHARE, 215, id="a share, with repeated statements"),
        pytest.param("paired", PAIRED, 168, id="two configurations"),
        pytest.param("agreement", AGREEMENT, None, id="agreement"),
    ],
)
def test_a_plan_is_looked_at_and_then_kept(
    boss: Client, campaign: Campaign, aim: str, typed: dict[str, str], items: int | None
) -> None:
    text = boss.post(page(campaign, aim), {**typed, "look": "1"}).content.decode()
    assert "Required size, not saved" in text
    assert "<svg" in text
    campaign.refresh_from_db()
    assert campaign.plan is None
    boss.post(page(campaign, aim), {**typed, "go_on": "1"})
    campaign.refresh_from_db()
    plan = services.plan_of(campaign)
    assert plan is not None
    assert items in (None, plan.items)
    assert campaign.planned_items == plan.items
    again = boss.get(f"/campaigns/{campaign.pk}/setup/size/").content.decode()
    assert "The plan" in again
    assert all(f'value="{value}"' in again for value in typed.values())


@pytest.mark.parametrize(
    ("aim", "typed", "said"),
    [
        pytest.param("share", SHARE | {"half_width": ""}, "required", id="nothing said"),
        pytest.param("share", SHARE | {"half_width": "-3"}, "greater than", id="below nothing"),
        pytest.param("share", SHARE | {"share": "<b>"}, "Enter a number", id="no number"),
        pytest.param("share", SHARE | {"share": "nan"}, "Enter a number", id="not a number"),
        pytest.param("share", SHARE | {"half_width": "0.5"}, "more than 10,000", id="too much"),
        pytest.param("paired", PAIRED | {"lost": "90"}, "more than all items", id="over 100"),
        pytest.param("paired", PAIRED | {"lost": "15"}, "expected to be equal", id="no difference"),
        pytest.param(
            "agreement", AGREEMENT | {"correct": "60"}, "not 100 % together", id="margins over 100"
        ),
        pytest.param(
            "agreement",
            AGREEMENT | {"incorrect": "0", "partial": "0", "correct": "100"},
            "at least two values",
            id="one value only",
        ),
    ],
)
def test_what_cannot_be_planned_is_said_at_the_field(
    boss: Client, campaign: Campaign, aim: str, typed: dict[str, str], said: str
) -> None:
    answer = boss.post(page(campaign, aim), {**typed, "go_on": "1"})
    assert answer.status_code == 422
    text = answer.content.decode()
    assert said in text
    assert "field-error" in text
    assert "<b>" not in text.split("<form", 2)[-1].split("</form>")[0]
    campaign.refresh_from_db()
    assert campaign.plan is None


def test_the_plan_is_fixed_when_the_campaign_opens(
    boss: Client, manager: User, reviewer: User
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    answer = boss.post(page(campaign, "share"), {**SHARE, "go_on": "1"})
    assert answer.status_code == 409
    assert "its plan stays as it was" in answer.content.decode()
    campaign.refresh_from_db()
    assert campaign.plan is None
    assert boss.post(page(campaign, "share"), {**SHARE, "look": "1"}).status_code == 200


@pytest.mark.slow
def test_a_plan_says_how_many_reviewers_it_takes_and_the_report_what_it_took(
    boss: Client, campaign: Campaign, reviewer: User
) -> None:
    """168 items, two configurations, two reviewers each, three minutes: 33.6 hours, five people of eight hours."""
    work = {"minutes": "3", "hours": "8", "overlap": "2", "arms": "2"}
    text = boss.post(page(campaign, "paired"), {**PAIRED, **work, "look": "1"}).content.decode()
    assert "5 reviewers</strong> of 8 hours each: 672 reviews take 33.6 hours" in " ".join(
        text.split()
    )
    add_member(campaign, reviewer, by=None)
    boss.post(page(campaign, "paired"), {**PAIRED, **work, "go_on": "1"})
    campaign.refresh_from_db()
    plan = services.plan_of(campaign)
    assert plan is not None and plan.work is not None
    assert (plan.work.reviews, plan.work.reviewers) == (672, 5)
    kept = boss.get(f"/campaigns/{campaign.pk}/setup/size/").content.decode()
    assert 'value="8"' in kept
    assert "the 1 who is in the campaign needs 33.6 hours" in " ".join(kept.split())
    items = fill(campaign, [Label("", [(2, None, None)])] * 2, [reviewer])
    Score.objects.filter(item__in=items).update(active_seconds=90)
    table = boss.get(f"/campaigns/{campaign.pk}/report/tables/plan.csv").content.decode()
    assert "Reviewers,5,0" in table
    assert '"Active minutes of all its reviewers, an item",6.0,1.5' in table
    assert "Hours of all reviewers,33.6,0.1" in table
