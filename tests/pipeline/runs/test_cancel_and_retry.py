"""Stopping a run, and taking a failed one up again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from pipeline import services
from pipeline.models import Run
from tests.make import make_action, make_run
from tests.pipeline.page_and_api import DONE, Way, both_ways

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
def test_who_asked_cancels_it(way: Way, queued: Run, reviewer: User) -> None:
    assert way.do(reviewer, queued, "cancel").status == DONE
    queued.refresh_from_db()
    assert queued.state == "cancelled"
    assert LogEntry.objects.get(actor=reviewer).additional_data == {"event": "cancelled"}


@both_ways
def test_a_manager_cancels_anybodys(way: Way, queued: Run, manager: User) -> None:
    assert way.do(manager, queued, "cancel").status == DONE


@both_ways
def test_another_persons_run_is_not_theirs_to_change(
    way: Way, queued: Run, second_reviewer: User, subtests: pytest.Subtests
) -> None:
    cases = ("cancel", "retry", "confirm-match", "reject-match")
    for what in cases:
        with subtests.test(what):
            assert way.do(second_reviewer, queued, what).status == 403
            queued.refresh_from_db()
            assert queued.state == "queued"
            assert Run.objects.count() == 1


@both_ways
def test_a_finished_run_cannot_be_cancelled(way: Way, reviewer: User) -> None:
    run = make_run(by=reviewer)
    answered = way.do(reviewer, run, "cancel")
    assert answered.status == 409
    assert "already finished" in answered.text
    run.refresh_from_db()
    assert run.state == "done"


@both_ways
def test_a_failed_run_is_taken_up_again(way: Way, failed: Run, reviewer: User) -> None:
    assert way.do(reviewer, failed, "retry").status == DONE
    failed.refresh_from_db()
    assert (failed.state, failed.problem, failed.finished_at) == ("queued", "", None)


@both_ways
def test_only_a_failed_run_is_taken_up_again(way: Way, reviewer: User) -> None:
    run = make_run(by=reviewer)
    assert way.do(reviewer, run, "retry").status == 409
    run.refresh_from_db()
    assert run.state == "done"


@both_ways
def test_a_run_that_does_not_exist_is_not_found(way: Way, reviewer: User) -> None:
    assert way.do(reviewer, Run(pk=999_999), "cancel").status == 404


def test_a_link_changes_nothing(
    client_for: Callable[[User], Client], queued: Run, reviewer: User, subtests: pytest.Subtests
) -> None:
    cases = ("cancel", "retry", "confirm-match", "reject-match")
    for what in cases:
        with subtests.test(what):
            address = reverse(f"run-{what}", args=[queued.pk])
            assert client_for(reviewer).get(address).status_code == 405
            queued.refresh_from_db()
            assert queued.state == "queued"
