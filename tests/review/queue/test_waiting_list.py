"""The list of the live queue: searched, narrowed, sorted; severity and risk of each item."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.models import SavedView, Version
from pipeline.execution.draft_checks import recheck_draft
from pipeline.models import Action, Assessment, Run
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
    rows = client_for(reviewer).get(reverse("queue"), query).context["rows"]

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


def counts(client: Client, **query: str) -> dict[str, dict[str, str]]:
    groups = client.get(reverse("queue"), query).context["groups"]
    return {one.name: {chip.label: chip.count for chip in one.chips} for one in groups}


@pytest.mark.parametrize(
    "query", first_cases(1, [{}, {"severity": "1"}, {"used": "1"}, {"q": "e"}, {"sort": "risk"}])
)
def test_each_count_is_what_the_list_has_when_one_follows_it(
    waiting: None, client_for: ClientFor, reviewer: User, query: dict[str, str]
) -> None:
    client = client_for(reviewer)
    page = client.get(reverse("queue"), query)
    assert page.context["said"] == f"{len(page.context['rows'])} waiting"
    for group in page.context["groups"]:
        for chip in [one for one in group.chips if not one.current]:
            after = client.get(reverse("queue") + chip.url).context["rows"]
            assert str(len(after)) == chip.count, (group.name, chip.label)


@pytest.mark.slow
def test_beside_a_risk_what_has_it_is_counted(
    waiting: None, client_for: ClientFor, reviewer: User
) -> None:
    found = counts(client_for(reviewer), risk="high")

    assert found["risk"] == {"High": "1", "Medium": "0", "Low": "3"}
    assert found["severity"] == {"High": "1"}


@pytest.mark.slow
def test_of_a_long_queue_the_counts_say_at_least(
    waiting: None, client_for: ClientFor, reviewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "review.queue.overview.waiting_list"
    monkeypatch.setattr(f"{where}.MOST_BY_RISK", 2)
    monkeypatch.setattr(f"{where}.MOST_COUNTED", 2)
    monkeypatch.setattr("review.queue.views.queue.MOST_COUNTED", 2)
    monkeypatch.setattr("review.queue.views.queue.PAGE_SIZE", 3)
    client = client_for(reviewer)

    page = client.get(reverse("queue"))
    assert page.context["said"] == "2+ waiting"
    assert counts(client)["risk"] == {"High": "", "Medium": "", "Low": "2+"}
    # What is further back was not looked through for its risk, and is there all the same.
    assert len(page.context["rows"]) == 3 and page.context["page"].older == "?start=3"
    (last,) = client.get(reverse("queue"), {"start": "3"}).context["rows"]
    assert last.item.run.action.statement == "Count files"


@pytest.mark.slow
def test_queues_that_differ_in_what_is_hidden_are_counted_alike(
    waiting: None, client_for: ClientFor, reviewer: User
) -> None:
    """The verdict, and what refinement made of a script, are told by no count."""
    queries = [{}, {"risk": "low"}, {"risk": "high"}, {"severity": "1"}, {"sort": "risk"}]
    client = client_for(reviewer)
    before = [counts(client, **one) for one in queries]
    run = Run.objects.get(action__statement="Show disks")
    Assessment.objects.update(verdict="correct")
    Run.objects.update(verdict="correct")
    run.drafts.filter(kind="refined").update(script="df -i\n", sha256=Version.hash_of("df -i\n"))

    assert [counts(client, **one) for one in queries] == before
    assert before[0]["risk"] == {"High": "1", "Medium": "0", "Low": "3"}


def test_a_head_sorts_and_the_place_is_kept_for_views(
    waiting: None, client_for: ClientFor, reviewer: User
) -> None:
    client = client_for(reviewer)
    page = client.get(reverse("queue"), {"sort": "oldest", "severity": "1"}).text
    assert 'aria-sort="ascending"' in page and "?sort=newest&amp;severity=1" in page

    data = {"listing": "queue", "name": "Critical", "query": "severity=1&sort=oldest"}
    assert client.post("/views/save/", data)["Location"] == "/queue/?severity=1&sort=oldest"
    assert "Critical</a>" in client.get(reverse("queue")).text
    assert not SavedView.objects.exclude(listing="queue").exists()
