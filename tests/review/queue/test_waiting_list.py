"""The list of the live queue: searched, narrowed, sorted; severity and risk of each item."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from pipeline.execution.draft_checks import recheck_draft
from pipeline.models import Action, Run
from pipeline.runs.services import use_unreviewed
from review import services
from tests.first_cases import first_cases
from tests.make import make_run
from tests.pipeline.query_counts import count_queries

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


def queued(statement: str, script: str, *, by: User, severity: int = 3, refined: str = "") -> Run:
    run = make_run(
        by=by,
        statement=statement,
        script=script,
        verdict="incorrect" if refined else "correct",
        feedback="- Do less." if refined else "",
        refined=refined,
    )
    for draft in run.drafts.all():
        recheck_draft(draft, by=by)
    Action.objects.filter(pk=run.action_id).update(severity=severity)
    services.take_in(run.pk)
    return run


@pytest.fixture
def waiting(reviewer: User, second_reviewer: User) -> None:
    queued("Count files", "ls /srv | wc -l\n", by=second_reviewer, severity=4)
    queued("Delete exports", "rm -rf /srv/exports\n", by=second_reviewer, severity=2)
    # What was made of it by refinement would tell the verdict: the first script counts.
    queued("Show disks", "df -h\n", by=second_reviewer, severity=1, refined="rm -rf /srv\n")
    used = queued("Fetch a page", "curl -s http://10.0.0.1/x\n", by=second_reviewer)
    assert used.recommended is not None
    use_unreviewed(used.recommended, reason="Disk full in ten minutes", by=second_reviewer)
    services.raise_priority(used.pk)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "shown"),
    first_cases(
        4,
        [
            pytest.param({}, ["Fetch", "Show", "Delete", "Count"], id="used first, then severity"),
            pytest.param({"risk": "high"}, ["Delete"], id="by risk"),
            pytest.param({"sort": "risk"}, ["Delete", "Fetch", "Show", "Count"], id="riskiest"),
            pytest.param({"q": "EXPORTS"}, ["Delete"], id="by words"),
            pytest.param({"severity": "1"}, ["Show"], id="by severity"),
            pytest.param({"used": "1"}, ["Fetch"], id="used without review"),
            pytest.param({"sort": "newest"}, ["Fetch", "Show", "Delete", "Count"], id="newest"),
            pytest.param({"sort": "oldest"}, ["Count", "Delete", "Show", "Fetch"], id="oldest"),
            pytest.param({"q": "100%"}, [], id="percent is no wildcard"),
        ],
    ),
)
def test_the_list_is_narrowed_and_sorted(
    waiting: None, client_for: ClientFor, reviewer: User, query: dict[str, str], shown: list[str]
) -> None:
    rows = client_for(reviewer).get(reverse("queue"), query).context["waiting"].rows

    assert [row.item.run.action.statement.split()[0] for row in rows] == shown


@pytest.mark.slow
def test_a_filter_that_does_not_exist_is_said_to_be_wrong(
    waiting: None, client_for: ClientFor, reviewer: User
) -> None:
    response = client_for(reviewer).get(reverse("queue"), {"risk": "enormous"})

    assert response.status_code == 422
    assert "unknown filter value" in response.text and "Delete exports" not in response.text


@pytest.mark.slow
def test_nothing_that_fits_leads_back_to_all(
    waiting: None, client_for: ClientFor, reviewer: User
) -> None:
    page = client_for(reviewer).get(reverse("queue"), {"q": "no such words"}).text

    assert "No matches" in page and "Clear the filters" in page


@pytest.mark.slow
def test_the_list_takes_a_fixed_number_of_queries(
    waiting: None, client_for: ClientFor, reviewer: User, second_reviewer: User
) -> None:
    client, addresses = client_for(reviewer), ["/queue/", "/queue/?sort=risk"]
    few = [count_queries(client, address) for address in addresses]
    for number in range(20):
        queued(f"Statement {number}", f"ls {number}\n", by=second_reviewer)

    assert [count_queries(client, address) for address in addresses] == few
