"""What a campaign will cost is said at the price of the way its questions go: page, API and command."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from pipeline.message_batches.services import use_message_batches
from pipeline.models import Configuration, Endpoint, Price, Run, Spending
from review.campaigns.services import editing, rules
from review.models import Campaign
from scriptsmith_site.templatetags.show import money
from tests.make import make_action, make_run

ClientFor = Callable[[User], Client]


@pytest.fixture
def paid() -> Endpoint:
    """An endpoint whose model costs 3 and 15 dollars a million, and has message batches."""
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
def campaign(manager: User, paid: Endpoint) -> Campaign:
    """Three statements; of its configuration two runs are known: 20,000 tokens in and 4,000 out, some for feedback."""
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


# Of one run: 8,000 tokens in at 3 and 2,000 out at 15 dollars a million, and 2,000 in for what is never batched.
_DIRECT = 3 * (24_000 + 30_000 + 6_000)
_BATCHED = 3 * ((24_000 + 30_000) // 2 + 6_000)


@pytest.mark.slow
def test_in_batches_it_is_half_the_price_of_what_goes_in_them(
    campaign: Campaign, manager: User, client_for: ClientFor
) -> None:
    boss = client_for(manager)
    page, api = (
        f"/campaigns/{campaign.pk}/setup/start/",
        f"/api/v1/campaigns/{campaign.pk}/estimate/",
    )
    told = boss.get(api).json()
    assert (told["cost"], told["direct_cost"], told["batched_cost"]) == (_DIRECT, _DIRECT, _BATCHED)
    directly = boss.get(page).content.decode()
    assert (
        f"<strong>{money(_DIRECT)}</strong>" in directly
        and f"it would be {money(_BATCHED)}" in directly
    )

    assert campaign.batch is not None
    use_message_batches(campaign.batch, uses=True, by=manager)

    told = boss.get(api).json()
    assert (told["cost"], told["direct_cost"]) == (_BATCHED, _DIRECT)
    assert [one["cost"] for one in told["configurations"]] == [_BATCHED]
    in_batches = boss.get(page).content.decode()
    assert (
        f"<strong>{money(_BATCHED)}</strong>" in in_batches
        and f"instead of {money(_DIRECT)}" in in_batches
    )
    said = StringIO()
    call_command("estimate_campaign", "Priced", "--json", stdout=said)
    assert json.loads(said.getvalue()) == told


def test_where_no_endpoint_has_them_the_price_stays_and_the_page_says_why(
    campaign: Campaign, paid: Endpoint, manager: User, client_for: ClientFor
) -> None:
    Endpoint.objects.filter(pk=paid.pk).update(has_batches=False)
    assert campaign.batch is not None
    use_message_batches(campaign.batch, uses=True, by=manager)
    page = client_for(manager).get(f"/campaigns/{campaign.pk}/setup/start/").content.decode()
    assert (
        f"<strong>{money(_DIRECT)}</strong>" in page
        and "no endpoint of these configurations" in page
    )
    said = StringIO()
    call_command("estimate_campaign", "Priced", stdout=said)
    assert "In all: 3 runs, $0.18 directly." in said.getvalue()


def test_a_model_without_a_price_is_named_once_and_nothing_is_guessed(
    campaign: Campaign, manager: User, client_for: ClientFor
) -> None:
    Price.objects.all().delete()
    told = client_for(manager).get(f"/api/v1/campaigns/{campaign.pk}/estimate/").json()
    assert (told["cost"], told["direct_cost"], told["batched_cost"]) == (None, None, None)
    assert told["configurations"][0]["unpriced"] == ["sonnet"]
    with pytest.raises(CommandError, match="There is no study"):
        call_command("estimate_campaign", "Nothing")
