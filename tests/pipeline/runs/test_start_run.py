"""Sending an action through the pipeline once more."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from pipeline.models import Action, Configuration, Run
from tests.make import make_action
from tests.pipeline.page_and_api import DONE, ByApi, ByPage, Way, both_ways

pytestmark = pytest.mark.django_db


@both_ways
def test_asker_and_manager_repeat_action(way: Way, reviewer: User, manager: User) -> None:
    action = make_action(by=reviewer)
    for user in (reviewer, manager):
        assert way.start(user, action).status == DONE
        assert action.runs.latest("pk").asked_by == user


@both_ways
def test_everybody_who_asks_may_run_the_demo(way: Way, reviewer: User) -> None:
    action = make_action(by=None, source=Action.Source.DEMO)
    assert way.start(reviewer, action).status == DONE


@both_ways
def test_run_is_not_started_by_others_with_archived_configurations_or_without_an_action(
    way: Way, reviewer: User, second_reviewer: User
) -> None:
    action = make_action(by=reviewer)
    assert way.start(second_reviewer, action).status == 403
    assert way.start(reviewer, Action(pk=999_999)).status == 404
    Configuration.objects.filter(name="demo").update(archived_at="2026-01-01T00:00Z")
    assert way.start(reviewer, action, configuration="demo").status == 422
    assert not Run.objects.exists()


def test_the_catalogue_can_be_left_out(reviewer: User) -> None:
    action = make_action(by=reviewer)
    ByPage().start(reviewer, action, retrieval="")
    ByApi().start(reviewer, action, retrieval=False)
    assert [run.uses_retrieval for run in action.runs.all()] == [False, False]
