"""Tests for the gain of a refinement round in one run, over many runs, and in the text for reviewers."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from pipeline.configurations import refinement_gain
from pipeline.configurations.refinement_gain import count_round, gain_of
from pipeline.costs.services import Sums
from pipeline.models import Assessment, Batch, Configuration, Draft, Feedback, Run, Stage
from tests import people
from tests.first_cases import first_cases
from tests.keys import shown
from tests.make import SCRIPT, make_draft, make_run
from tests.pipeline.rows import make_attempt, make_call

client = people.as_reviewer

pytestmark = pytest.mark.django_db
YES, NO, UNKNOWN = "correct", "incorrect", "unknown"


def test_a_round_is_counted_over_all_runs(subtests: pytest.Subtests) -> None:
    cases = {
        "the first script": ([{0: YES}, {0: NO}], 0, (2, 1, 0, 0, 0)),
        "one more passes": ([{0: YES}, {0: NO, 1: YES}], 1, (1, 2, 1, 0, 0)),
        "no better": ([{0: NO, 1: NO}], 1, (1, 0, 0, 0, 0)),
        "broken": ([{0: YES, 1: NO}], 1, (1, 0, 0, 1, 0)),
        "not to be judged any more": ([{0: NO, 1: UNKNOWN}], 1, (1, 0, 0, 0, 1)),
        "those who stopped keep their verdict": ([{0: NO, 1: NO, 2: YES}, {0: NO, 1: YES}, {0: YES}], 2,
            (1, 3, 1, 0, 0)),
        "over a round without a script": ([{0: NO, 2: YES}], 2, (1, 1, 1, 0, 0)),
        "no runs": ([], 1, (0, 0, 0, 0, 0)),
    }  # fmt: skip
    for name, (runs, number, expected) in cases.items():
        with subtests.test(name):
            got = count_round(number, runs, Sums())
            assert (
                got.reached,
                got.passed,
                got.newly_passed,
                got.newly_flagged,
                got.unknown,
            ) == expected


def test_what_has_no_price_has_no_mean_and_is_not_nothing() -> None:
    priced = count_round(0, [{0: YES}, {0: NO}], Sums(cost=9, milliseconds=4_000))
    unpriced = count_round(0, [{0: YES}], Sums(cost=9, unpriced=1))
    assert (priced.mean_cost, priced.mean_milliseconds) == (4, 2_000)
    assert unpriced.mean_cost is None


def refined_run(verdict: str = YES, *, batch: Batch | None = None, **about: object) -> Run:
    """Create a run whose first script was flagged and rewritten once, with the cost and time of each round."""
    run = make_run(
        verdict=NO,
        feedback="- Minutes, not days.",
        refined=SCRIPT.replace("-mtime", "-mmin"),
        refined_verdict=verdict,
        **about,
    )
    Run.objects.filter(pk=run.pk).update(batch=batch)
    for round, cost in ((0, 4_000), (1, 6_000)):
        call = make_call(run, "describe", round=round, endpoint="claude", model="claude-sonnet-5-5")
        make_attempt(call, cost=cost, price_since="2026-10-07", milliseconds=cost)
    return run


def test_over_a_configuration_each_round_says_what_it_gained_and_took() -> None:
    refined_run(YES)
    refined_run(NO)
    make_run(verdict=YES)
    found = gain_of(Configuration.objects.get(name="demo"))
    first, second = found.rounds
    assert (found.runs, found.demo, found.is_cut) == (3, True, False)
    assert (first.reached, first.passed, first.mean_cost) == (3, 1, 8_000 // 3)
    assert (second.reached, second.passed, second.newly_passed) == (2, 2, 1)
    assert (second.mean_cost, second.mean_milliseconds) == (6_000, 6_000)


def test_what_was_made_on_demand_or_by_a_person_is_not_a_round(reviewer: User) -> None:
    run = refined_run(YES)
    refinement = run.refinements.create(draft=run.drafts.get(number=1), asked_by=reviewer)
    make_draft(
        run,
        script="uptime\n",
        kind="refined",
        verdict=YES,
        round=2,
        refinement=refinement,
        parent=run.drafts.get(number=1),
        feedback=Feedback.objects.get(draft__run=run),
    )
    assert len(gain_of(run.configuration).rounds) == 2


def test_gain_counts_ended_runs_with_two_verdicts() -> None:
    run = make_run()
    Assessment.objects.filter(draft__run=run).delete()
    assert gain_of(run.configuration).runs == 0
    batch = Batch.objects.create(name="Study")
    refined_run(YES, batch=batch)
    make_run(verdict=YES)
    Run.objects.filter(pk=make_run().pk).update(state="failed")
    assert gain_of(batch=batch).runs == 1
    assert gain_of().runs == 2


def test_no_more_than_the_newest_runs_are_counted_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        refined_run(YES)
    monkeypatch.setattr(refinement_gain, "MOST_RUNS", 2)
    configuration = Configuration.objects.get(name="demo")
    with django_assert_num_queries(3):
        found = gain_of(configuration)
    assert (found.runs, found.is_cut) == (2, True)
    shown = render_to_string("pipeline/configurations/_refinement_gain.html", {"gain": found})
    assert "Based on the newest 2 runs" in shown
    assert "2 / 2" in shown and "$0.0060" in shown


def test_before_the_first_run_it_says_what_will_be_counted() -> None:
    shown = render_to_string(
        "pipeline/configurations/_refinement_gain.html", {"gain": gain_of(batch=Batch(pk=0))}
    )
    assert "No verdicts yet" in shown


@pytest.mark.parametrize(
    ("verdict", "words"),
    first_cases(
        1,
        [
            (YES, ("Draft 2 is recommended", "newly passed", "round 1")),
            (NO, ("Draft 1 is shown", "unchanged")),
            (UNKNOWN, ("Draft 1 is shown", "no verdict")),
        ],
    ),
)
def test_the_run_says_which_draft_it_recommends_and_why(
    client: Client, reviewer: User, verdict: str, words: tuple[str, ...]
) -> None:
    run = refined_run(verdict, by=reviewer)
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert [word for word in words if word not in page] == []
    assert "Based on the assessor's verdicts, not on reviews." in page
    assert "$0.0100" in page and "at prices from 2026-10-07" in page
    assert "(model calls: 10.0 s)" in page


def test_single_draft_has_reason(client: Client, reviewer: User, subtests: pytest.Subtests) -> None:
    explained = {"explain": "explained"}
    cases = {
        "passed": (YES, {}, "The assessor passed the first script"),
        "unknown": (UNKNOWN, {}, "The assessor&#x27;s reply could not be read"),
        "no rounds": (NO, {}, "The script was not refined"),
        "self-doubt": (NO, {"explain": "no_error"}, "The model then found no error"),
        "reply": (NO, {"explain": "unparsed"}, "explanation could not be read"),
        "same": (NO, explained | {"refine": "unchanged"}, "produced no new script"),
        "cut short": (
            NO, explained | {"refine": "truncated"}, "The rewritten script could not be read",
        ),
    }  # fmt: skip
    for name, (verdict, outcomes, words) in cases.items():
        run = make_run(by=reviewer, verdict=verdict)
        for number, (stage, outcome) in enumerate(outcomes.items(), start=1):
            Stage.objects.create(
                run=run, sequence=number, name=stage, round=1, state="done", outcome=outcome
            )
        with subtests.test(name):
            assert words in client.get(reverse("run-detail", args=[run.pk])).text


def explained(run: Run, *points: str) -> None:
    """Store the model's explanation of the first draft in the ledger."""
    draft: Draft = run.drafts.get(number=1)
    Stage.objects.create(
        run=run, sequence=1, name="explain", round=1, state="done", outcome="explained", draft=draft
    )
    said = {"verdict": "error", "points": list(points)}
    content = [{"type": "tool_use", "name": "answer", "input": said}]
    reply = {"content": content, "stop_reason": "tool_use"}
    make_call(run, "explain", round=1, state="done", outcome="read", reply=reply)


@pytest.mark.parametrize(
    ("given", "words"),
    first_cases(
        1,
        [
            (5, "2 more points from the model were not used"),
            (4, "1 more point from the model was not used"),
            (3, ""),
        ],
    ),
)
def test_feedback_says_its_length(client: Client, reviewer: User, given: int, words: str) -> None:
    run = refined_run(by=reviewer)
    explained(run, *(f"Point {number}." for number in range(given)))
    page = client.get(reverse("run-detail", args=[run.pk])).text
    assert "1 point, 4 words" in page.replace("\n", " ")
    assert words in page
    assert bool(words) == ("not used" in page)
    first = run.drafts.get(number=1)
    said = client.get(f"/api/v1/drafts/{shown(first)}/").json()
    assert (said["feedback"][0]["points"], said["feedback"][0]["words"]) == (1, 4)
