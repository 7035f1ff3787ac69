"""Tests for starting another run, canceling a run and retrying it."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from pipeline import services
from pipeline.models import Action, Configuration, Run
from tests.make import make_action, make_run
from tests.people import ClientFor
from tests.pipeline.page_and_api import DONE, ByApi, ByPage, Way, both_ways

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(reviewer: User) -> Run:
    return services.start_run(make_action(by=reviewer), by=reviewer, enqueue=False)


@pytest.fixture
def failed(queued: Run) -> Run:
    queued.state, queued.finished_at = Run.State.FAILED, timezone.now()
    queued.problem = "Claude needs its key in the environment variable ANTHROPIC_API_KEY."
    queued.save()
    return queued


@both_ways
def test_asker_and_manager_cancel_a_run(way: Way, queued: Run, reviewer: User) -> None:
    assert way.do(reviewer, queued, "cancel").status == DONE
    queued.refresh_from_db()
    assert queued.state == "cancelled"
    assert LogEntry.objects.get(actor=reviewer).additional_data == {"event": "cancelled"}


@both_ways
def test_a_manager_cancels_anybodys(way: Way, queued: Run, manager: User) -> None:
    assert way.do(manager, queued, "cancel").status == DONE


@both_ways
def test_administrator_cancels_any_run(
    way: Way, queued: Run, administrator: User, client_for: ClientFor
) -> None:
    page = client_for(administrator).get(reverse("run-detail", args=[queued.pk])).text
    assert reverse("run-cancel", args=[queued.pk]) in page
    assert way.do(administrator, queued, "cancel").status == DONE
    queued.refresh_from_db()
    assert queued.state == "cancelled"


@both_ways
def test_finished_run_is_neither_cancelled_nor_resumed(way: Way, reviewer: User) -> None:
    run = make_run(by=reviewer)
    answered = way.do(reviewer, run, "cancel")
    assert answered.status == 409 and "already finished" in answered.text
    assert way.do(reviewer, run, "retry").status == 409
    run.refresh_from_db()
    assert run.state == "done"
    assert way.do(reviewer, Run(pk=999_999), "cancel").status == 404


@both_ways
def test_a_failed_run_is_taken_up_again(way: Way, failed: Run, reviewer: User) -> None:
    assert way.do(reviewer, failed, "retry").status == DONE
    failed.refresh_from_db()
    assert (failed.state, failed.problem, failed.finished_at) == ("queued", "", None)


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
