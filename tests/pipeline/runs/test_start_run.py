"""Sending an action through the pipeline once more."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from pipeline.models import Action, Configuration, Run
from tests.make import make_action
from tests.pipeline.page_and_api import DONE, ByApi, ByPage, Way, both_ways

pytestmark = pytest.mark.django_db


@both_ways
def test_who_asked_runs_it_again(way: Way, reviewer: User) -> None:
    action = make_action(by=reviewer)
    assert way.start(reviewer, action).status == DONE
    assert action.runs.get().asked_by == reviewer


@both_ways
def test_a_manager_runs_what_somebody_else_asked(way: Way, reviewer: User, manager: User) -> None:
    action = make_action(by=reviewer)
    assert way.start(manager, action).status == DONE
    assert action.runs.get().asked_by == manager


@both_ways
def test_everybody_who_asks_may_run_the_demo(way: Way, reviewer: User) -> None:
    action = make_action(by=None, source=Action.Source.DEMO)
    assert way.start(reviewer, action).status == DONE


@both_ways
def test_what_another_person_asked_is_not_theirs_to_run(
    way: Way, reviewer: User, second_reviewer: User
) -> None:
    action = make_action(by=reviewer)
    assert way.start(second_reviewer, action).status == 403
    assert not Run.objects.exists()


@both_ways
def test_an_archived_configuration_is_refused(way: Way, reviewer: User) -> None:
    Configuration.objects.filter(name="demo").update(archived_at="2026-01-01T00:00Z")
    assert way.start(reviewer, make_action(by=reviewer), configuration="demo").status == 422
    assert not Run.objects.exists()


@both_ways
def test_an_action_that_does_not_exist_is_not_found(way: Way, reviewer: User) -> None:
    assert way.start(reviewer, Action(pk=999_999)).status == 404


def test_the_catalogue_can_be_left_out(reviewer: User) -> None:
    action = make_action(by=reviewer)
    ByPage().start(reviewer, action, retrieval="")
    ByApi().start(reviewer, action, retrieval=False)
    assert [run.uses_retrieval for run in action.runs.all()] == [False, False]
