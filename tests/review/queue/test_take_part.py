"""Tests for a reviewer who works through a study: waiting items, the next item, the end and the training round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from core.web.public_keys import ITEM, read_public
from review import services
from review.campaigns.services import states
from review.models import Assignment, Campaign, Case, Item, Member, Score
from review.queue.overview.pace import own_pace
from tests.keys import shown
from tests.review.desk.test_desk import score_next
from tests.review.maker import ClientFor, add_item, make_study


def give(client: Client, item: Item, *values: int) -> str:
    """Score the stages on the page as they open, and return the address of the last redirect."""
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


def test_study_is_reviewed_to_its_end(manager: User, reviewer: User, as_reviewer: Client) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2, name="Shell study")
    page = as_reviewer.get("/studies/").text
    assert "Shell study" in page
    first = as_reviewer.post(f"/studies/{campaign.pk}/next/")
    item = Item.objects.get(pk=read_public(ITEM, first["Location"].strip("/").split("/")[-1]))
    leads = give(as_reviewer, item, 0, 2, 2)
    other = campaign.items.exclude(pk=item.pk).get()
    assert leads == f"/items/{shown(other)}/"
    assert give(as_reviewer, other, 1, 0, 2) == f"/studies/{campaign.pk}/"
    end = as_reviewer.get(f"/studies/{campaign.pk}/").text
    assert "Nothing is waiting for you" in end
    assert "2 done by you" in end
    assert Score.objects.filter(reviewer=reviewer).count() == 6


def test_the_navigation_leads_to_studies_only_where_one_takes_part(
    manager: User, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    client, item = client_for(reviewer), campaign.items.get()
    assert 'href="/studies/"' in client.get("/queue/").text
    assert 'href="/studies/"' not in client_for(second_reviewer).get("/queue/").text
    # The page does not link to the run, because the run shows the names of the models.
    client.post(f"/studies/{campaign.pk}/next/")
    give(client, item, 0)
    assert f'href="/runs/{item.run_id}/"' not in client.get(f"/items/{shown(item)}/").text
    everyone = make_study(by=manager, reviewers=[], items=3, open_to_all=True)
    assert "3 items are waiting for you" in client.get(f"/studies/{everyone.pk}/").text
    client.post(f"/studies/{everyone.pk}/next/")
    assert Member.objects.filter(campaign=everyone, user=reviewer).exists()


def test_finished_reviewer_is_told(manager: User, reviewer: User, as_reviewer: Client) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=3, limit_each=1)
    as_reviewer.post(f"/studies/{campaign.pk}/next/")
    item = Assignment.objects.get().item
    assert give(as_reviewer, item, 2, 2, 2) == f"/studies/{campaign.pk}/"
    page = as_reviewer.get(f"/studies/{campaign.pk}/").text
    assert "You have finished all your items" in page
    assert "Next item" not in page


def test_training_shows_right_scores(manager: User, reviewer: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, is_open=False)
    trained = add_item(campaign, "training")
    known = {"script": 0, "feedback": 2, "refined": 2, "why": "It looks at names only."}
    Case.objects.filter(pk=trained.case_id).update(purpose="training", known=known)
    Item.objects.filter(pk=trained.pk).update(overlap=32_767, places=32_767)
    states.move_campaign(campaign, "open", by=manager)
    client = client_for(reviewer)
    assert client.post(f"/studies/{campaign.pk}/next/")["Location"] == f"/items/{shown(trained)}/"
    assert "It looks at names only." not in client.get(f"/items/{shown(trained)}/").text
    assert give(client, trained, 1, 2, 2) == f"/items/{shown(trained)}/"
    page = client.get(f"/items/{shown(trained)}/").text
    assert "It looks at names only." in page
    assert "correct score" in page
    assert campaign.members.get().trained_at is not None
    real = campaign.items.exclude(pk=trained.pk).get()
    assert client.post(f"/studies/{campaign.pk}/next/")["Location"] == f"/items/{shown(real)}/"


def test_closed_study_gives_nothing(manager: User, reviewer: User, client_for: ClientFor) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1)
    for state in ("setup", "paused", "closed"):
        Campaign.objects.filter(pk=campaign.pk).update(state=state)
        answer = client_for(reviewer).post(f"/studies/{campaign.pk}/next/")
        assert answer["Location"] == f"/studies/{campaign.pk}/", state
    assert not Assignment.objects.exists()


@pytest.mark.slow
def test_study_list_queries_fixed(manager: User, reviewer: User, client_for: ClientFor) -> None:
    client, counts = client_for(reviewer), []
    for number in range(3):
        make_study(by=manager, reviewers=[reviewer], items=2, name=f"Study {number}")
        cache.clear()  # The cache stores the count in the navigation bar.
        with CaptureQueriesContext(connection) as asked:
            page = client.get("/studies/")
        assert [study.waiting for study in page.context["studies"]] == [2] * (number + 1)
        counts.append(len(asked))
    assert len(set(counts)) == 1


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """Set the local time to noon, so that today already has past hours."""
    now = timezone.now()
    with timezone.override(timezone.get_fixed_timezone(12 * 60 - now.hour * 60 - now.minute)):
        yield


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    """Return a study in which `reviewer` has finished four items, three after 10, 20 and 60 seconds and one without a
    time."""
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=5)
    for seconds in (10, 20, 60, 0):
        claimed = services.claim_next(campaign, by=reviewer)
        for value in (0, 2, 2):
            score_next(claimed.item, reviewer, value)
        Assignment.objects.filter(pk=claimed.pk).update(
            active_seconds={"script-model": seconds} if seconds else {}, pauses=1
        )
    return campaign


def test_pace_is_of_today_and_of_this_sitting(
    study: Campaign, reviewer: User, django_assert_num_queries: Callable[..., object]
) -> None:
    with django_assert_num_queries(2):
        pace = own_pace(reviewer)
    assert (pace.today, pace.sitting, pace.median_seconds, pace.pauses) == (4, 4, 20, 4)
    now = timezone.now()
    first, second, third = Assignment.objects.filter(reviewer=reviewer).order_by("pk")[:3]
    earlier = now - timedelta(hours=2)
    Assignment.objects.filter(pk=first.pk).update(ended_at=now - timedelta(hours=30))
    Assignment.objects.filter(pk=second.pk).update(ended_at=earlier)
    Score.objects.filter(assignment__in=[first, second]).update(at=earlier)
    pace = own_pace(reviewer)
    assert (pace.today, pace.sitting, pace.median_seconds) == (3, 2, 40)
    assert third.ended_at is not None
    Score.objects.update(at=timezone.now() - timedelta(minutes=31))
    assert own_pace(reviewer).sitting is None


@pytest.mark.slow
def test_the_queue_the_study_and_the_api_show_it_to_its_owner_alone(
    study: Campaign, reviewer: User, second_reviewer: User, client_for: ClientFor
) -> None:
    pages = [reverse("queue"), reverse("study-queue", args=[study.pk])]
    for page in pages:
        assert "Your pace today" in client_for(reviewer).get(page).text
        assert "Your pace today" not in client_for(second_reviewer).get(page).text
    url = "/api/v1/scores/pace/"
    assert client_for(reviewer).get(url).json()["today"] == 4
    for query in ("", f"?reviewer={reviewer.pk}", "?user=rita"):
        assert client_for(second_reviewer).get(url + query).json()["today"] == 0
