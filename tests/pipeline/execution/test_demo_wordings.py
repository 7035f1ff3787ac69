"""Tests for the demo model's scripts and refusals, from its replies to the review queue."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from pipeline import services
from pipeline.access import access_runs
from pipeline.execution import run_worker
from pipeline.models import Run
from pipeline.runs.answers import answer_of
from pipeline.runs.list_rows import run_row
from review.models import Item
from tests.make import make_action
from tests.pipeline.standin.test_example_statements import SHOWN

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("standin")]


def carry_out(statement: str, by: User) -> Run:
    run = services.start_run(make_action(statement, by=by), by=by, enqueue=False)
    return run_worker.run_to_end(run.pk, give_up_after=60)


def test_shown_statements_are_queued(reviewer: User, subtests: pytest.Subtests) -> None:
    """The tests of the demo model compare the scripts, so this test does not."""
    for statement in SHOWN:
        run = carry_out(statement, reviewer)
        with subtests.test(statement):
            assert (run.state, run.verdict) == ("done", "correct")
            assert run.recommended is not None
            assert Item.objects.filter(run=run).count() == 1


def test_refused_statement_ends_unwritten_and_is_not_queued(reviewer: User) -> None:
    run = carry_out("Delete 45-day-old files in /srv/reports", reviewer)
    found = answer_of(run_row(access_runs(reviewer).get(pk=run.pk), reviewer), reviewer)
    assert (run.state, run.recommended, found.status) == ("failed", None, "unwritten")
    assert "The demo model does not know how to do this." in run.problem
    assert not run.drafts.exists() and not Item.objects.filter(run=run).exists()
