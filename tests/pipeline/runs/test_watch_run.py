"""Tests that a run's page follows an active run, stops when the run ends, and escapes all text."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Version
from pipeline import services
from pipeline.models import Assessment, Attempt, Batch, Endpoint, Feedback, ModelCall, Run, Stage
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
from tests.pipeline.rows import make_attempt, make_call
from tests.query_counts import count_queries
from tests.review.maker import make_study

HTMX = {"HX-Request": "true"}
HOSTILE = '</code><script>alert(1)</script> {{ 7|add:"1" }} {0} %s ${HOME}'

pytestmark = pytest.mark.django_db


@pytest.fixture
def queued(reviewer: User) -> Run:
    return services.start_run(make_action(by=reviewer), by=reviewer, enqueue=False)


def begin(run: Run, name: str, *, sequence: int = 1, **fields: object) -> Stage:
    """Create a stage of the run. By default, the stage is in progress."""
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
    assert "Queued." in page
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
    assert "Run state: Checked by a model only." in response.headers["HX-Trigger"]
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
    assert (
        "Demo model has reached its limit of concurrent calls"
        in client.get(address).content.decode()
    )
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
    assert "Assess differences" in page
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


@pytest.mark.slow
def test_the_page_takes_a_fixed_number_of_queries(client_for: ClientFor, stranger: User) -> None:
    run = make_run(verdict="incorrect", feedback="- No.", refined=SCRIPT + "# 2\n")
    client, address = client_for(stranger), reverse("run-detail", args=[run.pk])
    few = count_queries(client, address)
    _grow(run, 30)
    assert count_queries(client, address) == few <= 16


@pytest.mark.slow
def test_the_status_takes_a_fixed_number_of_queries(as_stranger: Client, queued: Run) -> None:
    client, status = as_stranger, reverse("run-status", args=[queued.pk])
    begin(queued, StageName.CHECK)
    few = _count_seen(client, status)
    for number in range(2, 30):
        begin(queued, StageName.CHECK, sequence=number, round=number)
    assert _count_seen(client, status) == few <= 7


def _count_seen(client: Client, status: str) -> int:
    """Return the number of queries of a poll that finds nothing new."""
    seen = client.get(status, headers=HTMX).context["seen"]
    return count_queries(client, f"{status}?seen={seen}", **HTMX)


def _grow(run: Run, drafts: int) -> None:
    """Add drafts with findings and feedback, each from a different stage."""
    for number in range(drafts):
        begin(run, StageName.CHECK, sequence=number + 1, round=number, state="done")
        draft = make_draft(run, script=f"echo {number}\n", kind="imported", verdict="incorrect")
        Feedback.objects.create(draft=draft, text="- No.")
        make_finding(draft, message="risky")


@pytest.fixture
def holder(queued: Run) -> Run:
    """Return a run with a call in flight. The `queued` run is waiting for its slot."""
    run = services.start_run(make_action("Another"), by=None, enqueue=False)
    demo = Endpoint.objects.get(name="demo")
    later = timezone.now() + timedelta(seconds=60)
    Run.objects.filter(pk=run.pk).update(state="running", fence=2, lease_until=later)
    Run.objects.filter(pk=queued.pk).update(waits_for=demo)
    open_call(run, demo)
    return run


def open_call(run: Run, endpoint: Endpoint, **attempt: object) -> Attempt:
    begun = timezone.now() - timedelta(seconds=200)
    in_flight = {"ended_at": None, "outcome": "", "place": 1, "endpoint": endpoint}
    return make_attempt(
        make_call(run, StageName.GENERATE), **{**in_flight, "started_at": begun, **attempt}
    )


def test_waiting_run_names_server_state_and_holder(
    client: Client, queued: Run, holder: Run, subtests: pytest.Subtests
) -> None:
    now, demo = timezone.now(), Endpoint.objects.filter(name="demo")
    status, seen = reverse("run-status", args=[queued.pk]), ""
    since = timezone.localtime(now - timedelta(seconds=200)).strftime("since %H:")
    ended = {"ended_at": now, "place": None, "number": 2, "call": holder.calls.get()}
    ended["endpoint"] = demo.get()

    def rest() -> None:
        demo.update(blocked_until=now + timedelta(minutes=1), blocked_why="Connection refused.")

    def lose() -> None:
        demo.update(blocked_until=None)
        holder.calls.get().attempts.update(place=None)
        Attempt.objects.create(outcome="unreachable", message="No route.", fence=1, **ended)

    steps = {
        "held": (
            lambda: None,
            ["Demo model has reached its limit of concurrent calls", f"Run {holder.pk}", since],
        ),
        "dead": (rest, ["Calls to the server are paused until", "Connection refused."]),
        "lost": (lose, ["The last call failed at", "No route."]),
    }
    for name, (change, words) in steps.items():
        with subtests.test(name):
            change()
            live = client.get(status, {"seen": seen}, headers=HTMX)
            assert live.status_code == 200, "the page follows by itself"
            waiting = client.get(f"/api/v1/runs/{queued.pk}/").json()["waiting"]
            for expected in words:
                assert expected in live.text and expected in waiting
            assert ("limit of concurrent calls" in live.text) is (name != "dead")
            seen = live.context["seen"]


def test_holder_in_hidden_study_is_not_named(
    manager: User, reviewer: User, client: Client, queued: Run
) -> None:
    hidden = make_study(by=manager, reviewers=[reviewer], items=1).items.get().run
    demo, later = Endpoint.objects.get(name="demo"), timezone.now() + timedelta(seconds=60)
    batch = Batch.objects.create(name="Study of it")
    Run.objects.filter(pk=hidden.pk).update(lease_until=later, batch=batch)
    Run.objects.filter(pk=queued.pk).update(waits_for=demo)
    open_call(hidden, demo)
    page = page_of(client, queued)
    assert "Another run is using the endpoint." in page and f"Run {hidden.pk} has" not in page


# The states shown for a stage and a call that have not ended, by the state of their run.
UNENDED = {
    "running": (["running"], ["running"], True),
    "queued": (["waiting"], ["waiting"], False),
    "cancelled": (["stopped"], ["stopped"], False),
    "failed": (["stopped"], ["stopped"], False),
}


@pytest.mark.parametrize("state", UNENDED)
def test_unended_stage_and_call_are_shown_as_their_run_is(
    client: Client, queued: Run, state: str
) -> None:
    on_stage, on_call, is_spinning = UNENDED[state]
    begin(queued, StageName.GENERATE, started_at=timezone.now() - timedelta(seconds=200))
    attempt = open_call(queued, Endpoint.objects.get(name="demo"))
    if state != "running":
        ended = {"ended_at": timezone.now(), "outcome": "orphaned", "place": None}
        Attempt.objects.filter(pk=attempt.pk).update(**ended)
    finished = timezone.now() if state == "failed" else None
    Run.objects.filter(pk=queued.pk).update(state=state, finished_at=finished, problem="No.")
    page = page_of(client, queued).partition('class="timeline"')[2].partition("</ol>")[0]
    ledger = client.get(reverse("run-calls", args=[queued.pk])).text
    call = ledger.partition('<details class="panel unfolds"')[2].partition("</details>")[0]
    for shown, words in ((page, on_stage), (call, on_call)):
        assert re.findall(r"\b(running|waiting|stopped)\b(?=\s*<)", shown) == words
        assert ("icon-spinner" in shown) is is_spinning
        assert "0 ms" not in shown and ("3 min 20 s" in shown or shown is page)


def test_cancel_says_so_of_the_call_in_flight(
    client: Client, queued: Run, holder: Run, as_administrator: Client
) -> None:
    assert as_administrator.post(reverse("run-cancel", args=[holder.pk])).status_code == 302
    ledger = client.get(reverse("run-calls", args=[holder.pk])).text
    assert "The run was canceled before the reply arrived." in ledger
    assert "worker stopped" not in ledger


def test_run_page_and_choice_tell_the_expected_time(
    client: Client, queued: Run, subtests: pytest.Subtests
) -> None:
    done = make_run(statement="One before")
    times = {"generate": 20_000, "describe": 9_000, "similarity": 9_000, "difference": 9_000}
    for seconds, words in ((1.0, "about 45 seconds"), (4.0, "about 3 minutes"), (0.1, "")):
        Attempt.objects.all().delete()
        ModelCall.objects.all().delete()
        for stage, milliseconds in times.items():
            make_attempt(make_call(done, stage), milliseconds=round(milliseconds * seconds))
        pages = {
            "run": page_of(client, queued),
            "ask": client.get(reverse("action-new")).text,
            "again": client.get(reverse("action-detail", args=[queued.action_id])).text,
        }
        for name, page in pages.items():
            with subtests.test(name, words=words):
                assert words in page and bool(re.search(r"about \d+ [sm]", page)) is bool(words)
