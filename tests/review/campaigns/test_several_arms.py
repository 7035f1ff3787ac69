"""Tests that three configurations on the same statements appear in balanced order, one per session, and are
indistinguishable.
"""

from __future__ import annotations

from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.test import Client

from pipeline.models import Configuration, Run
from review import services
from review.models import Campaign, Item
from review.sampling import seed_of, shuffle_of
from tests.keys import shown
from tests.make import make_run
from tests.review.maker import FEEDBACK, add_configuration, let_time_pass, make_study
from tests.review.queue.test_studies import give, go_through

SEED = 20_260_101


@pytest.fixture
def arms(db: None) -> list[Configuration]:
    default = Configuration.objects.get(is_default=True)
    return [default, add_configuration("grumpy"), add_configuration("cheerful")]


def make_arms(campaign: Campaign, arms: list[Configuration], *, cases: int) -> None:
    """For each statement, add a different script from each configuration, shuffled as usual."""
    Campaign.objects.filter(pk=campaign.pk).update(seed=SEED)
    campaign.refresh_from_db()
    for number in range(cases):
        case = None
        for arm in arms:
            run = make_run(
                statement=f"List the sockets of host {number}",
                script=f"ss -l | grep host-{number} # {arm.pk}\n",
                verdict="incorrect",
                feedback=FEEDBACK,
                refined=f"ss -lntp | grep host-{number} # {arm.pk}\n",
                origin="campaign",
            )
            Run.objects.filter(pk=run.pk).update(configuration=arm)
            case = case or campaign.cases.create(external_id=f"host-{number}", action=run.action)
            campaign.items.create(
                case=case,
                configuration=arm,
                run=run,
                state=Item.State.OPEN,
                shuffle=shuffle_of(campaign, f"host-{number}:{arm.name}"),
            )


@pytest.mark.slow
def test_arms_come_in_own_sitting(manager: User, reviewer: User, arms: list[Configuration]) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    make_arms(campaign, arms, cases=4)
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    campaign.refresh_from_db()
    sittings = []
    for _ in range(3):
        came = go_through(campaign, reviewer, 0, 2, 2)
        sittings.append(came)
        let_time_pass()
    cases = dict(campaign.items.values_list("pk", "case"))
    # Each session shows each statement once, and three sessions show all items.
    assert [len({cases[item] for item in came}) for came in sittings] == [4, 4, 4]
    assert [len(came) for came in sittings] == [4, 4, 4]
    assert services.claim_next(campaign, by=reviewer) is None


def test_each_arm_comes_first_about_as_often_as_the_others(
    manager: User, reviewer: User, second_reviewer: User, arms: list[Configuration]
) -> None:
    campaign = make_study(by=manager, reviewers=[], items=0, is_open=False)
    for person in (reviewer, second_reviewer):
        # The order depends on the reviewer's number, which differs between test runs. These bounds are more than seven
        # standard deviations (of 26) away from the mean.
        counts = Counter(first_arm(campaign, person, arms, f"host-{case}") for case in range(3_000))
        assert all(800 <= counts[arm.name] <= 1_200 for arm in arms)


def first_arm(campaign: Campaign, person: User, arms: list[Configuration], case: str) -> str:
    """Return the arm that comes first for a statement in this reviewer's random order."""
    seed = seed_of(campaign, person)
    return min((shuffle_of(campaign, f"{case}:{arm.name}") ^ seed, arm.name) for arm in arms)[1]


@pytest.mark.slow
def test_which_arm_a_script_is_of_is_told_nowhere(
    manager: User, reviewer: User, arms: list[Configuration], as_reviewer: Client
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    make_arms(campaign, arms, cases=1)
    Campaign.objects.filter(pk=campaign.pk).update(state="open")
    for _ in arms:
        assignment = services.claim_next(Campaign.objects.get(pk=campaign.pk), by=reviewer)
        url = f"/items/{shown(assignment.item)}/"
        for value in (None, 0, 2, 2):
            if value is not None:
                give(assignment.item, reviewer, value)
            told = as_reviewer.get(url).text + as_reviewer.get(f"/api/v1{url}").text
            told += as_reviewer.get(f"/studies/{campaign.pk}/").text
            for arm in arms:
                assert arm.title not in told
                assert f'"{arm.name}"' not in told.replace('"demo":', "")
        let_time_pass()
    assert services.claim_next(Campaign.objects.get(pk=campaign.pk), by=reviewer) is None
