"""A run of a study does not go into the live queue while the study is open: what is decided there would be known."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.errors import NotAllowedNow
from review import services
from review.campaigns.services import states
from review.models import Campaign, Item
from tests.review.maker import make_study

pytestmark = pytest.mark.django_db


def test_a_run_of_an_open_study_is_not_reviewed_in_the_queue(
    reviewer: User, manager: User, client_for: Callable[[User], Client]
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=1)
    run = study.items.get().run
    assert run is not None
    with pytest.raises(NotAllowedNow, match="study"):
        services.item_of_run(run.pk)
    assert client_for(reviewer).post(f"/runs/{run.pk}/review/").status_code == 409
    assert not Item.objects.filter(campaign__kind=Campaign.Kind.LIVE).exists()
    states.move_campaign(study, Campaign.State.CLOSED, by=manager)
    assert services.item_of_run(run.pk) is not None
