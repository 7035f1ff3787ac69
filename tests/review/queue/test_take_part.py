"""A reviewer goes through a study: what waits, the next item at once, the end, the training round."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.web.public_keys import ITEM, read_public
from review.campaigns.services import states
from review.models import Assignment, Campaign, Case, Item, Member, Score
from tests.keys import shown
from tests.review.maker import add_item, make_study

ClientFor = Callable[[User], Client]


def give(client: Client, item: Item, *values: int) -> str:
    """Score over the page as it opens stage by stage; where the last answer leads."""
    leads = ""
    for value in values:
        page = client.get(f"/items/{shown(item)}/")
        step = page.context["step"]
        answer = client.post(
            f"/items/{shown(item)}/score/",
            {"stage": step.stage, "arm": step.arm, "value": value, "seen": page.context["seen"]},
        )
        assert answer.status_code == 302
        leads = str(answer["Location"])
    return leads


@pytest.mark.slow
def test_a_study_is_gone_through_item_by_item_to_its_end(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2, name="Shell study")
    client = client_for(reviewer)
    page = client.get("/studies/").content.decode()
    assert "Shell study" in page
    first = client.post(f"/studies/{campaign.pk}/next/")
    item = Item.objects.get(pk=read_public(ITEM, first["Location"].strip("/").split("/")[-1]))
    leads = give(client, item, 0, 2, 2)
    other = campaign.items.exclude(pk=item.pk).get()
    assert leads == f"/items/{shown(other)}/"
    assert give(client, other, 1, 0, 2) == f"/studies/{campaign.pk}/"
    end = client.get(f"/studies/{campaign.pk}/").content.decode()
    assert "Nothing is waiting for you" in end
    assert "2 done by you" in end
    assert Score.objects.filter(reviewer=reviewer).count() == 6


@pytest.mark.slow
def test_the_navigation_leads_to_studies_only_where_one_takes_part(
    manager: User, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    make_study(by=manager, reviewers=[reviewer], items=1)
    assert 'href="/studies/"' in client_for(reviewer).get("/queue/").content.decode()
    assert 'href="/studies/"' not in client_for(second_reviewer).get("/queue/").content.decode()


@pytest.mark.slow
def test_a_study_open_to_all_counts_for_who_is_no_member_yet(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[], items=3, open_to_all=True)
    client = client_for(reviewer)
    assert "3 items are waiting for you" in client.get(f"/studies/{campaign.pk}/").content.decode()
    client.post(f"/studies/{campaign.pk}/next/")
    assert Member.objects.filter(campaign=campaign, user=reviewer).exists()


@pytest.mark.slow
def test_whoever_has_done_their_share_is_told_so(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=3, limit_each=1)
    client = client_for(reviewer)
    client.post(f"/studies/{campaign.pk}/next/")
    item = Assignment.objects.get().item
    assert give(client, item, 2, 2, 2) == f"/studies/{campaign.pk}/"
    page = client.get(f"/studies/{campaign.pk}/").content.decode()
    assert "You have done all that was asked of you" in page
    assert "Next item" not in page


@pytest.mark.slow
def test_training_comes_first_and_shows_the_right_scores_afterwards(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, is_open=False)
    trained = add_item(campaign, "training")
    known = {"script": 0, "feedback": 2, "refined": 2, "why": "It looks at names only."}
    Case.objects.filter(pk=trained.case_id).update(purpose="training", known=known)
    Item.objects.filter(pk=trained.pk).update(overlap=32_767, places=32_767)
    states.move_campaign(campaign, "open", by=manager)
    client = client_for(reviewer)
    assert client.post(f"/studies/{campaign.pk}/next/")["Location"] == f"/items/{shown(trained)}/"
    assert "It looks at names only." not in client.get(f"/items/{shown(trained)}/").content.decode()
    assert give(client, trained, 1, 2, 2) == f"/items/{shown(trained)}/"
    page = client.get(f"/items/{shown(trained)}/").content.decode()
    assert "It looks at names only." in page
    assert "right would be" in page
    assert campaign.members.get().trained_at is not None
    real = campaign.items.exclude(pk=trained.pk).get()
    assert client.post(f"/studies/{campaign.pk}/next/")["Location"] == f"/items/{shown(real)}/"


@pytest.mark.slow
def test_a_reviewer_of_a_study_is_not_led_to_the_run_that_names_its_models(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    client = client_for(reviewer)
    client.post(f"/studies/{campaign.pk}/next/")
    item = campaign.items.get()
    give(client, item, 0)
    assert (
        f'href="/runs/{item.run_id}/"' not in client.get(f"/items/{shown(item)}/").content.decode()
    )


@pytest.mark.parametrize("state", ["setup", "paused", "closed"])
def test_nothing_is_handed_out_while_a_study_is_not_open(
    manager: User, reviewer: User, client_for: ClientFor, state: str
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    Campaign.objects.filter(pk=campaign.pk).update(state=state)
    answer = client_for(reviewer).post(f"/studies/{campaign.pk}/next/")
    assert answer["Location"] == f"/studies/{campaign.pk}/"
    assert not Assignment.objects.exists()


@pytest.mark.slow
def test_others_have_no_place_in_a_study(
    manager: User, reviewer: User, second_reviewer: User, stranger: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    for other in (second_reviewer, stranger):
        assert client_for(other).get(f"/studies/{campaign.pk}/").status_code == 403
        assert client_for(other).post(f"/studies/{campaign.pk}/next/").status_code == 403
    assert client_for(reviewer).get("/studies/999999/").status_code == 404


@pytest.mark.slow
def test_the_list_asks_as_often_for_three_studies_as_for_one(
    manager: User, reviewer: User, client_for: ClientFor
) -> None:
    client, counts = client_for(reviewer), []
    for number in range(3):
        make_study(by=manager, reviewers=[reviewer], items=2, name=f"Study {number}")
        cache.clear()  # of the count in the bar
        with CaptureQueriesContext(connection) as asked:
            page = client.get("/studies/")
        assert [study.waiting for study in page.context["studies"]] == [2] * (number + 1)
        counts.append(len(asked))
    assert len(set(counts)) == 1
