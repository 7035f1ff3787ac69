"""Tests that a study's sample size is planned during setup and fixed at opening, and that its cost is estimated."""

from __future__ import annotations

import json
from datetime import date
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from pipeline.message_batches.services import use_message_batches
from pipeline.models import Configuration, Endpoint, Price, Run, Spending
from review.campaigns import services
from review.campaigns.services import editing, rules
from review.models import Campaign, Score
from review.queue.members import add_member
from scriptsmith_site.templatetags.show import money
from tests.make import make_action, make_run
from tests.review.maker import ClientFor, make_study
from tests.review.report.rows import Label, fill

SHARE = {"share": "42", "half_width": "8", "deff": "1.5"}
PAIRED = {"gained": "15", "lost": "5", "power": "80", "deff": "1"}
AGREEMENT = {
    **{"alpha": "0.7", "width": "0.2", "reviewers": "2", "deff": "1"},
    **{"incorrect": "40", "partial": "15", "correct": "45"},
}


@pytest.fixture
def campaign(manager: User) -> Campaign:
    return rules.create_campaign("Study", by=manager)


def page(campaign: Campaign, aim: str) -> str:
    return f"/campaigns/{campaign.pk}/setup/size/?for={aim}"


def test_a_plan_is_looked_at_and_then_kept(boss: Client, manager: User) -> None:
    """The plan is for a share with repeated statements, for two configurations, and for agreement."""
    aims = {"share": (SHARE, 215), "paired": (PAIRED, 168), "agreement": (AGREEMENT, None)}
    for aim, (typed, items) in aims.items():
        campaign = rules.create_campaign(f"Study of {aim}", by=manager)
        text = boss.post(page(campaign, aim), {**typed, "look": "1"}).text
        assert "Sample size, not saved" in text and "<svg" in text
        campaign.refresh_from_db()
        assert campaign.plan is None
        boss.post(page(campaign, aim), {**typed, "go_on": "1"})
        campaign.refresh_from_db()
        plan = services.plan_of(campaign)
        assert plan is not None and items in (None, plan.items), aim
        assert campaign.planned_items == plan.items
        again = boss.get(f"/campaigns/{campaign.pk}/setup/size/").text
        assert '<h2 id="plan-head"> Plan </h2>' in " ".join(again.split())
        assert all(f'value="{value}"' in again for value in typed.values()), aim


def test_what_cannot_be_planned_is_said_at_the_field(boss: Client, campaign: Campaign) -> None:
    one_value = {"incorrect": "0", "partial": "0", "correct": "100"}
    for aim, typed, said in (
        ("share", SHARE | {"half_width": ""}, "required"),
        ("share", SHARE | {"half_width": "-3"}, "greater than"),
        ("share", SHARE | {"share": "<b>"}, "Enter a number"),
        ("share", SHARE | {"share": "nan"}, "Enter a number"),
        ("share", SHARE | {"half_width": "0.5"}, "more than 10,000"),
        ("paired", PAIRED | {"lost": "90"}, "must not exceed 100%"),
        ("paired", PAIRED | {"lost": "15"}, "expected to be equal"),
        ("agreement", AGREEMENT | {"correct": "60"}, "must add up to 100%"),
        ("agreement", AGREEMENT | one_value, "for at least two scores"),
    ):
        answer = boss.post(page(campaign, aim), {**typed, "go_on": "1"})
        assert answer.status_code == 422, said
        assert said in answer.text and "field-error" in answer.text, said
        assert "<b>" not in answer.text.split("<form", 2)[-1].split("</form>")[0]
        campaign.refresh_from_db()
        assert campaign.plan is None


def test_plan_is_fixed_when_campaign_opens(boss: Client, manager: User, reviewer: User) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    answer = boss.post(page(campaign, "share"), {**SHARE, "go_on": "1"})
    assert answer.status_code == 409
    assert "its plan is fixed" in answer.text
    campaign.refresh_from_db()
    assert campaign.plan is None
    assert boss.post(page(campaign, "share"), {**SHARE, "look": "1"}).status_code == 200


def test_a_plan_says_how_many_reviewers_it_takes_and_the_report_what_it_took(
    boss: Client, campaign: Campaign, reviewer: User
) -> None:
    """168 items, two configurations, two reviewers each, three minutes: 33.6 hours, or five reviewers of 8 hours."""
    work = {"minutes": "3", "hours": "8", "overlap": "2", "arms": "2"}
    text = boss.post(page(campaign, "paired"), {**PAIRED, **work, "look": "1"}).text
    assert "5 reviewers</strong> with 8 hours each: 672 reviews take 33.6 hours" in " ".join(
        text.split()
    )
    add_member(campaign, reviewer, by=None)
    boss.post(page(campaign, "paired"), {**PAIRED, **work, "go_on": "1"})
    campaign.refresh_from_db()
    plan = services.plan_of(campaign)
    assert (plan.work.reviews, plan.work.reviewers) == (672, 5)
    kept = boss.get(f"/campaigns/{campaign.pk}/setup/size/").text
    assert 'value="8"' in kept
    assert "33.6 hours for the 1 reviewer in this study" in " ".join(kept.split())
    items = fill(campaign, [Label("", [(2, None, None)])] * 2, [reviewer])
    Score.objects.filter(item__in=items).update(active_seconds=90)
    table = boss.get(f"/campaigns/{campaign.pk}/report/tables/plan.csv").text
    assert "Reviewers,5,0" in table
    assert "Active reviewer minutes per item,6.0,1.5" in table
    assert "Total reviewer hours,33.6,0.1" in table


@pytest.fixture
def paid() -> Endpoint:
    """Return an endpoint with message batches whose model costs 3 dollars per million input tokens and 15 per million
    output tokens."""
    endpoint = Endpoint.objects.get(name="demo")
    endpoint.pk, endpoint.name, endpoint.enabled = None, "paid", True
    endpoint.demo, endpoint.has_batches = False, True
    endpoint.save()
    Price.objects.create(
        endpoint=endpoint,
        model="sonnet",
        since=date(2026, 1, 1),
        input=3_000_000,
        output=15_000_000,
        cache_read=0,
        cache_write=0,
    )
    return endpoint


@pytest.fixture
def priced(manager: User, paid: Endpoint) -> Campaign:
    """Return a study with three statements.

    Two runs of its configuration used 20,000 input and 4,000 output tokens each, some of them for feedback.
    """
    configuration = Configuration.objects.get(is_default=True)
    configuration.roles.update(endpoint=paid, model="sonnet")
    for _ in range(2):
        run = make_run()
        Run.objects.filter(pk=run.pk).update(
            configuration=configuration, finished_at=timezone.now()
        )
    for stage, tokens_in, tokens_out in (("generate", 16_000, 4_000), ("shorten", 4_000, 0)):
        Spending.objects.create(
            day=date(2026, 2, 1),
            endpoint=paid,
            model="sonnet",
            configuration=configuration,
            stage=stage,
            input_tokens=tokens_in,
            output_tokens=tokens_out,
        )
    made = rules.create_campaign("Priced", by=manager)
    actions = [make_action(f"Show the load of host {number}") for number in range(3)]
    editing.add_actions(made, actions, by=manager)
    made.configurations.set([configuration])
    return made


# One run: 8,000 input tokens at 3 dollars and 2,000 output tokens at 15 dollars per million, and 2,000 input tokens for
# calls that are never batched.
_DIRECT = 3 * (24_000 + 30_000 + 6_000)
_BATCHED = 3 * ((24_000 + 30_000) // 2 + 6_000)


def test_batches_cost_half(priced: Campaign, manager: User, as_manager: Client) -> None:
    page, api = (f"/campaigns/{priced.pk}/setup/start/", f"/api/v1/campaigns/{priced.pk}/estimate/")
    told = as_manager.get(api).json()
    assert (told["cost"], told["direct_cost"], told["batched_cost"]) == (_DIRECT, _DIRECT, _BATCHED)
    directly = as_manager.get(page).text
    assert (
        f"<strong>{money(_DIRECT)}</strong>" in directly
        and f"would cost {money(_BATCHED)}" in directly
    )

    use_message_batches(priced.batch, uses=True, by=manager)

    told = as_manager.get(api).json()
    assert (told["cost"], told["direct_cost"]) == (_BATCHED, _DIRECT)
    assert [one["cost"] for one in told["configurations"]] == [_BATCHED]
    in_batches = as_manager.get(page).text
    assert (
        f"<strong>{money(_BATCHED)}</strong>" in in_batches
        and f"instead of {money(_DIRECT)}" in in_batches
    )
    said = StringIO()
    call_command("estimate_campaign", "Priced", "--json", stdout=said)
    assert json.loads(said.getvalue()) == told


def test_where_no_endpoint_has_them_the_price_stays_and_the_page_says_why(
    priced: Campaign, paid: Endpoint, manager: User, client_for: ClientFor
) -> None:
    Endpoint.objects.filter(pk=paid.pk).update(has_batches=False)
    use_message_batches(priced.batch, uses=True, by=manager)
    page = client_for(manager).get(f"/campaigns/{priced.pk}/setup/start/").text
    assert (
        f"<strong>{money(_DIRECT)}</strong>" in page
        and "no endpoint of these configurations" in page
    )
    said = StringIO()
    call_command("estimate_campaign", "Priced", stdout=said)
    assert "Total: 3 runs, $0.18 with direct calls." in said.getvalue()


def test_a_model_without_a_price_is_named_once_and_nothing_is_guessed(
    priced: Campaign, manager: User, client_for: ClientFor
) -> None:
    Price.objects.all().delete()
    told = client_for(manager).get(f"/api/v1/campaigns/{priced.pk}/estimate/").json()
    assert (told["cost"], told["direct_cost"], told["batched_cost"]) == (None, None, None)
    assert told["configurations"][0]["unpriced"] == ["sonnet"]
    with pytest.raises(CommandError, match="No study named “Nothing” exists"):
        call_command("estimate_campaign", "Nothing")
