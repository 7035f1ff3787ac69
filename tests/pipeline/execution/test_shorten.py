"""Tests that shortening an expert's feedback records one call, is never paid twice, and stays within the budget."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from core.errors import BadInput, NotAllowedNow
from pipeline import services
from pipeline.configurations import prompt_versions
from pipeline.execution.run_worker import advance
from pipeline.flow import prompts
from pipeline.flow.reading.readers import read_points
from pipeline.models import Attempt, Batch, Draft, Endpoint, ModelCall, Run, Shortening
from pipeline.runs.services.shortening import MAX_TEXT, can_shorten, is_long
from pipeline.standin.writing.feedback_shortener import shorten
from pipeline.types import ReadingOutcome, Reply
from tests.make import make_run
from tests.standin_process import StandIn

LONG = "\n".join(
    [
        "I looked at this for a while, and I think that there is a problem with the way files are found here.",
        "- You should use -path instead of -name, because -name looks at the last part only.",
        "- The option -type f is missing, so that directories would be listed as well.",
        "- Quote the pattern, otherwise the shell expands it in the present directory.",
        "Apart from that it looks fine to me, thank you for the quick answer, and please send it back soon.",
    ]
)


@pytest.fixture
def draft(db: None) -> Draft:
    return make_run(verdict="incorrect", feedback="- Wrong.").drafts.get(number=1)


def test_shortened_text_has_three_points(draft: Draft, reviewer: User, standin: StandIn) -> None:
    asked = services.ask_shorter(draft, text=LONG, by=reviewer)
    assert asked.state == "waiting" and Run.objects.get(pk=draft.run_id).state == "queued"
    advance(draft.run_id)
    asked.refresh_from_db()
    assert asked.state == "done" and asked.text == LONG
    assert asked.shorter.count("\n") == 2 and "-path instead of -name" in asked.shorter
    assert "thank you" not in asked.shorter and not is_long(asked.shorter)
    call = ModelCall.objects.get(stage="shorten")
    assert (call.run_id, call.state, call.outcome) == (draft.run_id, "done", "read")
    attempt = Attempt.objects.get(call=call)
    assert attempt.outcome == "answered" and attempt.input_tokens and attempt.cost is not None
    run = Run.objects.get(pk=draft.run_id)
    assert run.state == "done" and not run.problem


def test_the_same_text_is_not_paid_for_twice(
    draft: Draft, reviewer: User, second_reviewer: User, standin: StandIn
) -> None:
    first = services.ask_shorter(draft, text=LONG, by=reviewer)
    assert services.ask_shorter(draft, text=LONG.replace("\n", "\r\n"), by=reviewer) == first
    advance(draft.run_id)
    assert services.ask_shorter(draft, text=LONG, by=reviewer).state == "done"
    other = services.ask_shorter(draft, text=LONG, by=second_reviewer)
    assert other.number == 2
    advance(draft.run_id)
    advance(draft.run_id)
    assert ModelCall.objects.filter(stage="shorten").count() == 2


def test_unreadable_reply_is_asked_twice(draft: Draft, reviewer: User, standin: StandIn) -> None:
    standin.faults({"kind": "text", "text": "Fine.", "task": "shorten", "count": 2})
    asked = services.ask_shorter(draft, text=LONG, by=reviewer)
    advance(draft.run_id)
    asked.refresh_from_db()
    assert asked.state == "failed" and "could not be read" in asked.problem
    assert [call.sample for call in ModelCall.objects.filter(stage="shorten")] == [0, 1]
    run = Run.objects.get(pk=draft.run_id)
    assert run.state == "done" and not run.problem, "the run itself is none the worse"
    again = services.ask_shorter(draft, text=LONG, by=reviewer)
    advance(draft.run_id)
    again.refresh_from_db()
    assert again.state == "done"


def test_short_text_is_refused(draft: Draft, reviewer: User, subtests: pytest.Subtests) -> None:
    cases = {
        "empty": (" \n", "first"),
        "short": ("- Use -path.", "short enough"),
        "binary": ("a\0b " * 90, ""),
        "too long": ("word " * MAX_TEXT, ""),
    }
    for name, (text, said) in cases.items():
        with subtests.test(name):
            with pytest.raises(BadInput) as refused:
                services.ask_shorter(draft, text=text, by=reviewer)
            assert refused.value.field == "feedback" and said in str(refused.value)
            assert not Shortening.objects.exists()


def test_without_a_model_nothing_is_asked(draft: Draft, reviewer: User, settings: object) -> None:
    run = Run.objects.get(pk=draft.run_id)
    assert can_shorten(run)
    Endpoint.objects.update(enabled=False)
    settings.SCRIPTSMITH_ENDPOINTS = []
    assert not can_shorten(run)
    with pytest.raises(NotAllowedNow, match="No model"):
        services.ask_shorter(draft, text=LONG, by=reviewer)
    Run.objects.filter(pk=run.pk).update(spec={})
    assert not can_shorten(Run.objects.get(pk=run.pk)), "an imported script has no models"


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        pytest.param({"budget": 0}, "budget is used up", id="budget"),
        pytest.param({"paused_at": "2026-01-01T00:00Z", "paused_why": "x"}, "paused", id="pause"),
    ],
)
def test_budget_is_kept(draft: Draft, reviewer: User, rules: dict[str, object], said: str) -> None:
    batch = Batch.objects.create(name="Study", **rules)
    Run.objects.filter(pk=draft.run_id).update(batch=batch)
    with pytest.raises(NotAllowedNow, match=said):
        services.ask_shorter(draft, text=LONG, by=reviewer)
    assert Run.objects.get(pk=draft.run_id).state == "done"


def test_erasing_an_action_erases_what_was_typed_of_it(draft: Draft, reviewer: User) -> None:
    asked = services.ask_shorter(draft, text=LONG, by=reviewer)
    Shortening.objects.filter(pk=asked.pk).update(state="done", shorter="- zq")
    Run.objects.filter(pk=draft.run_id).update(state="done")
    services.erase_action(draft.run.action, by=reviewer)
    asked.refresh_from_db()
    assert (asked.text, asked.shorter) == ("(erased)", "(erased)")


@pytest.mark.django_db
def test_a_run_from_before_there_was_such_a_question_takes_the_present_one() -> None:
    named = {name: version for name, version in prompts.versions().items() if name != "shorten"}
    assert prompt_versions.templates_of(named)["shorten"] == prompts.load("shorten")


def test_points_are_read() -> None:
    cases = {
        "plain": ('{"points": ["a", "b"]}', ("a", "b")),
        "four": ('```json\n{"points": ["a", "b", "c", "d"]}\n```', ("a", "b", "c")),
        "lines": ('{"points": "a\\nb"}', ("a", "b")),
    }
    wrong = {
        name: got
        for name, (text, points) in cases.items()
        if (got := read_points(Reply(text)).points) != points
    }
    assert not wrong


def test_what_holds_no_point_is_not_read() -> None:
    cases = {
        "empty": (Reply(""), "empty"),
        "prose": (Reply("Use -path."), "unparsed"),
        "no point": (Reply('{"points": []}'), "unparsed"),
        "not words": (Reply('{"points": [1, null]}'), "unparsed"),
        "cut": (Reply('{"points": ["a"', stop_reason="max_tokens"), "truncated"),
        "refused": (Reply("", stop_reason="refusal"), "refused"),
    }
    wrong = {
        name: got
        for name, (reply, outcome) in cases.items()
        if (got := read_points(reply).outcome) is not ReadingOutcome(outcome)
    }
    assert not wrong


def test_the_demo_model_keeps_what_asks_for_a_change() -> None:
    assert shorten(LONG) == [
        "You should use -path instead of -name.",
        "The option -type f is missing.",
        "Quote the pattern.",
    ]
