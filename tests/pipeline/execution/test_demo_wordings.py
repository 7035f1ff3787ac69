"""Statements that people are shown, and others that the demo model cannot do: through the stand-in to the queue."""

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
from tests.first_cases import first_cases
from tests.make import make_action
from tests.pipeline.standin.test_example_statements import SHOWN
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db

SCRIPTS = {
    "nginx": ("nginx -t", "systemctl restart nginx"),
    "45 days": ("find /srv/reports -type f -mtime +45 -delete",),
    "30 days": ("find /var/tmp/exports -type f -mtime +30",),
    "largest": ("find /var/log -type f", "| sort -rn | sed -n 1,10p"),
}
IMPOSSIBLE = (
    "asdf",
    "Welche Prozesse brauchen am meisten Memory?",
    "Delete 45-day-old files in /srv/reports",
    "Files older than 45 days in /srv/reports should not be deleted",
    "Delete hidden files in /home/anna",
    "Restart nginx every night at 02:00",
    "Disable root login over SSH",
)


def carry_out(statement: str, by: User) -> Run:
    run = services.start_run(make_action(statement, by=by), by=by, enqueue=False)
    return run_worker.run_to_end(run.pk, give_up_after=60)


@pytest.mark.slow
@pytest.mark.parametrize("statement", first_cases(2, SHOWN))
def test_what_people_are_shown_is_written_passed_and_queued(
    standin: StandIn, reviewer: User, statement: str
) -> None:
    run = carry_out(statement, reviewer)
    assert (run.state, run.verdict) == ("done", "correct")
    assert run.recommended is not None
    (wanted,) = (pieces for words, pieces in SCRIPTS.items() if words in statement)
    at = [run.recommended.script.find(piece) for piece in wanted]
    assert min(at) >= 0 and at == sorted(at), run.recommended.script
    assert Item.objects.filter(run=run).count() == 1


@pytest.mark.parametrize("statement", first_cases(2, IMPOSSIBLE))
def test_what_it_cannot_do_ends_unwritten_and_waits_for_nobody(
    standin: StandIn, reviewer: User, statement: str
) -> None:
    run = carry_out(statement, reviewer)
    found = answer_of(run_row(access_runs(reviewer).get(pk=run.pk), reviewer), reviewer)
    assert (run.state, run.recommended, found.status) == ("failed", None, "unwritten")
    assert "The demo model does not know how to do this." in run.problem
    assert not run.drafts.exists() and not Item.objects.filter(run=run).exists()
