"""One's own pace on the queue: items, work and pauses of today and of this sitting, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from review import services
from review.models import Assignment, Campaign, Score
from review.queue.overview.pace import own_pace
from tests.review.desk.test_desk import score_next
from tests.review.maker import make_study

ClientFor = Callable[[User], Client]


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """It is noon where these tests run, so that today has hours before now."""
    now = timezone.now()
    with timezone.override(timezone.get_fixed_timezone(12 * 60 - now.hour * 60 - now.minute)):
        yield


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    """Four items that `reviewer` is through with: 10, 20 and 60 seconds of work, and one that was not timed."""
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=5)
    for seconds in (10, 20, 60, 0):
        claimed = services.claim_next(campaign, by=reviewer)
        assert claimed is not None
        for value in (0, 2, 2):
            score_next(claimed.item, reviewer, value)
        Assignment.objects.filter(pk=claimed.pk).update(
            active_seconds={"script-model": seconds} if seconds else {}, pauses=1
        )
    return campaign


@pytest.mark.slow
def test_what_was_done_today_with_its_median_and_pauses(study: Campaign, reviewer: User) -> None:
    pace = own_pace(reviewer)
    assert (pace.today, pace.sitting, pace.median_seconds, pace.pauses) == (4, 4, 20, 4)


@pytest.mark.slow
def test_an_earlier_sitting_and_yesterday_are_not_in_it(study: Campaign, reviewer: User) -> None:
    now = timezone.now()
    first, second, third = Assignment.objects.filter(reviewer=reviewer).order_by("pk")[:3]
    earlier = now - timedelta(hours=2)
    Assignment.objects.filter(pk=first.pk).update(ended_at=now - timedelta(hours=30))
    Assignment.objects.filter(pk=second.pk).update(ended_at=earlier)
    Score.objects.filter(assignment__in=[first, second]).update(at=earlier)
    pace = own_pace(reviewer)
    assert (pace.today, pace.sitting, pace.median_seconds) == (3, 2, 40)
    assert third.ended_at is not None


@pytest.mark.slow
def test_long_after_the_last_score_no_sitting_is_under_way(study: Campaign, reviewer: User) -> None:
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


@pytest.mark.slow
def test_it_takes_two_queries_however_much_was_done(
    study: Campaign, reviewer: User, django_assert_num_queries: Callable[..., object]
) -> None:
    with django_assert_num_queries(2):  # type: ignore[attr-defined]
        own_pace(reviewer)
