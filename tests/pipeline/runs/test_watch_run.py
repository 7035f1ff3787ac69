"""The page of a run: it follows an active run, stops when that is done, and escapes everything."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Version
from pipeline import services
from pipeline.models import (
    Assessment,
    Batch,
    Endpoint,
    Feedback,
    Run,
    Stage,
)
from pipeline.types import StageName
from tests.make import (
    SCRIPT,
    make_action,
    make_draft,
    make_finding,
    make_match,
    make_run,
    make_version,
)
from tests.people import ClientFor
from tests.pipeline.query_counts import count_queries

HTMX = {"HX-Request": "true"}
HOSTILE = '</code><script>alert(1)</script> {{ 7|add:"1" }} {0} %s ${HOME}'

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(reviewer: User) -> Run:
    return services.start_run(make_action(by=reviewer), by=reviewer, enqueue=False)


def begin(run: Run, name: str, *, sequence: int = 1, **fields: object) -> Stage:
    """A stage of the run, under way unless the fields say otherwise."""
    return Stage.objects.create(run=run, name=name, sequence=sequence, **fields)


def finish(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(state=Run.State.DONE, finished_at=timezone.now())


def page_of(client: Client, run: Run) -> str:
    return client.get(reverse("run-detail", args=[run.pk])).text


def test_an_active_run_asks_for_itself(client: Client, queued: Run) -> None:
    page = page_of(client, queued)
    status = reverse("run-status", args=[queued.pk])
    assert f'hx-get="{status}?seen=' in page
    assert 'hx-trigger="every 1s"' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    assert "Waiting for a worker" in page
    assert reverse("run-cancel", args=[queued.pk]) in page


def test_nothing_is_sent_while_nothing_changes(client: Client, queued: Run) -> None:
    status = reverse("run-status", args=[queued.pk])
    seen = client.get(status, headers=HTMX).context["seen"]
    assert client.get(status, {"seen": seen}, headers=HTMX).status_code == 204
    begin(queued, StageName.GENERATE)
    fragment = client.get(status, {"seen": seen}, headers=HTMX)
    assert fragment.status_code == 200
    assert "Write" in fragment.text
    assert "<html" not in fragment.text


def test_polling_stops_when_the_run_is_done(client: Client, queued: Run) -> None:
    seen = client.get(reverse("run-detail", args=[queued.pk])).context["seen"]
    draft = make_draft(queued, script=SCRIPT, kind="generated", verdict="correct")
    Run.objects.filter(pk=queued.pk).update(recommended=draft, verdict="correct")
    finish(queued)
    response = client.get(reverse("run-status", args=[queued.pk]), {"seen": seen}, headers=HTMX)
    assert "hx-get" not in response.text
    assert "hx-trigger" not in response.text
    assert "assessor: passed" in response.text
    assert 'id="draft-L1"' in response.text
    assert "This run is now: Checked by a model only." in response.headers["HX-Trigger"]
    content = page_of(client, queued).partition('id="content"')[2]
    assert content and 'hx-trigger="every' not in content


def test_polling_goes_on_where_a_refinement_is_under_way(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer, verdict="incorrect")
    services.ask_refinement(run.recommended, by=reviewer, feedback="Use -mtime, not -atime.")
    page = page_of(client, run)
    assert 'hx-trigger="every 1s"' in page
    assert 'id="draft-L1"' in page
    assert reverse("run-cancel", args=[run.pk]) not in page


def test_the_status_by_a_plain_link_leads_to_the_page(client: Client, queued: Run) -> None:
    response = client.get(reverse("run-status", args=[queued.pk]))
    assert response.status_code == 302
    assert response.headers["Location"] == reverse("run-detail", args=[queued.pk])


def test_a_waiting_run_says_what_it_waits_for(client: Client, queued: Run) -> None:
    later = timezone.now() + timedelta(minutes=5)
    Endpoint.objects.filter(name="demo").update(blocked_until=later, blocked_why="<b>busy</b>")
    Run.objects.filter(pk=queued.pk).update(not_before=later)
    assert "&lt;b&gt;busy&lt;/b&gt;" in page_of(client, queued)


def test_run_page_says_why_it_waits(client: Client, queued: Run, manager: User) -> None:
    demo = Endpoint.objects.get(name="demo")
    Run.objects.filter(pk=queued.pk).update(waits_for=demo)
    address = reverse("run-detail", args=[queued.pk])
    assert "All places at Demo model are taken" in client.get(address).content.decode()
    batch = Batch.objects.create(name="Study", budget=1)
    Run.objects.filter(pk=queued.pk).update(batch=batch)
    services.pause_batch(batch, why="The budget is used up.", by=manager)
    assert "The budget is used up." in client.get(address).content.decode()


def test_a_failed_run_says_why_and_can_be_taken_up_again(
    client_for: ClientFor, client: Client, queued: Run, second_reviewer: User
) -> None:
    finish(queued)
    Run.objects.filter(pk=queued.pk).update(
        state=Run.State.FAILED, problem="Claude needs its key in <ANTHROPIC_API_KEY>."
    )
    retry = reverse("run-retry", args=[queued.pk])
    page = page_of(client, queued)
    assert "Claude needs its key in &lt;ANTHROPIC_API_KEY&gt;." in page
    assert retry in page
    assert retry not in page_of(client_for(second_reviewer), queued)


def test_stages_are_named_in_words(client: Client, queued: Run) -> None:
    begin(
        queued,
        StageName.DIFFERENCE,
        state="done",
        outcome="mismatch",
        found="It looks at\nanother directory.",
        ended_at=timezone.now(),
        milliseconds=1_840,
        input_tokens=4_120,
        output_tokens=96,
    )
    page = page_of(client, queued)
    assert "Compare: differences" in page
    assert "<summary>differences " in page
    assert "another directory." in page
    assert "1.8 s" in page
    assert "4,120 + 96" in page


def test_first_draft_stays_visible_beside_refined_one(client: Client, reviewer: User) -> None:
    refined = SCRIPT.replace("-mtime", "-mmin")
    run = make_run(
        by=reviewer, verdict="incorrect", feedback="- Minutes, not days.", refined=refined
    )
    page = page_of(client, run)
    assert "Draft 2, refined" in page
    assert "Draft 1, generated" in page
    assert "Draft 1 and draft 2" in page
    assert "Feedback on draft 1" in page
    assert "Minutes, not days." in page
    assert "assessor: flagged" in page


def test_a_starting_point_is_named_with_what_differs(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer)
    version = make_version("Delete old sessions")
    make_match(run, version, answer="adapt", confidence=0.5, differs=["another directory"])
    page = page_of(client, run)
    assert "Based on" in page
    assert reverse("entry-detail", args=["delete-old-sessions"]) in page
    assert "another directory" in page


@pytest.mark.parametrize(
    "ended", [{"state": "done"}, {"state": "failed", "problem": "No script in it."}]
)
def test_where_nothing_was_written_the_nearest_verified_entries_are_named(
    client: Client, reviewer: User, ended: dict[str, str]
) -> None:
    run = services.start_run(make_action(by=reviewer), by=reviewer, enqueue=False)
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now(), **ended)
    near = [make_version(title) for title in ("Delete old sessions", "Delete old logs", "Draft")]
    for rank, version in enumerate(near):
        make_match(run, version, rank=rank, answer="none", confidence=0.2, cosine=0.6)
    Version.objects.filter(pk=near[2].pk).update(state="deprecated")
    page = page_of(client, run)
    links = [reverse("entry-detail", args=[version.entry.slug]) for version in near]
    assert [f'href="{link}"' in page for link in links] == [True, True, False]


def test_hostile_text_is_shown_as_text_wherever_it_stands(client: Client, reviewer: User) -> None:
    run = make_run(
        by=reviewer,
        script=f"echo '{HOSTILE}'\n",
        verdict="incorrect",
        feedback=HOSTILE,
        refined=f"printf '{HOSTILE}'\n",
        statement=HOSTILE,
    )
    Assessment.objects.update(
        functionality=HOSTILE,
        similarity_reason=HOSTILE,
        difference_reason=HOSTILE,
        differences=[HOSTILE],
        model=HOSTILE[:90],
    )
    draft = run.drafts.get(number=2)
    make_finding(draft, code=HOSTILE[:40], message=HOSTILE, line=1)
    begin(run, StageName.EXPLAIN, state="done", outcome="explained", found=HOSTILE)
    Run.objects.filter(pk=run.pk).update(state="failed", problem=HOSTILE)
    Feedback.objects.update(model=HOSTILE[:90])
    page = page_of(client, run)
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 8
    assert "${HOME}" in page


def test_an_unknown_run_is_not_found(client: Client) -> None:
    assert client.get(reverse("run-detail", args=[999_999])).status_code == 404


def test_the_page_takes_a_fixed_number_of_queries(client_for: ClientFor, stranger: User) -> None:
    run = make_run(verdict="incorrect", feedback="- No.", refined=SCRIPT + "# 2\n")
    client, address = client_for(stranger), reverse("run-detail", args=[run.pk])
    few = count_queries(client, address)
    _grow(run, 30)
    assert count_queries(client, address) == few <= 16


def test_the_status_takes_a_fixed_number_of_queries(as_stranger: Client, queued: Run) -> None:
    client, status = as_stranger, reverse("run-status", args=[queued.pk])
    begin(queued, StageName.CHECK)
    few = _count_seen(client, status)
    for number in range(2, 30):
        begin(queued, StageName.CHECK, sequence=number, round=number)
    assert _count_seen(client, status) == few <= 7


def _count_seen(client: Client, status: str) -> int:
    """Queries of a poll that finds nothing new."""
    seen = client.get(status, headers=HTMX).context["seen"]
    return count_queries(client, f"{status}?seen={seen}", **HTMX)


def _grow(run: Run, drafts: int) -> None:
    """Further drafts with findings and feedback, each of another stage."""
    for number in range(drafts):
        begin(run, StageName.CHECK, sequence=number + 1, round=number, state="done")
        draft = make_draft(run, script=f"echo {number}\n", kind="imported", verdict="incorrect")
        Feedback.objects.create(draft=draft, text="- No.")
        make_finding(draft, message="risky")
