"""Tests that the question after an unreadable reply says what was missing and how to answer in this mode."""

from __future__ import annotations

import pytest

from pipeline import services
from pipeline.execution import run_worker
from pipeline.flow.declaration import AskedStage
from pipeline.flow.passage import ask_again
from pipeline.flow.prompts import load_all
from pipeline.flow.reading.readers import OpinionReading
from pipeline.flow.stages import ASKED_STAGES
from pipeline.flow.stages import compare as compare_stage
from pipeline.flow.stages import describe as describe_stage
from pipeline.flow.stages import generate as generate_stage
from pipeline.llm.request_builder import RoleSpec, build_request
from pipeline.models import ModelCall
from pipeline.types import Mode, Question, Reply
from tests.make import make_action
from tests.standin_process import StandIn

TEMPLATES = load_all()
FENCE = "```"


def generate() -> Question:
    return generate_stage.question("Show the load", "", [], templates=TEMPLATES)


def compare(stage: AskedStage[OpinionReading] = compare_stage.DIFFERENCE) -> Question:
    return compare_stage.question(stage, "Show the load", "It does.", round=0, templates=TEMPLATES)


def line_of(question: Question, reply: str, mode: Mode) -> str:
    """Return the line that the second question adds to the first question."""
    again = ask_again(question, ASKED_STAGES[question.stage].read(Reply(reply)))
    role = RoleSpec("endpoint", 1, "model", mode)
    content = str(build_request(again, role)["messages"][0]["content"])  # type: ignore[index]
    assert content.startswith(question.user) and again.sample == 1
    return content.removeprefix(question.user).strip()


def test_second_question_ends_with_what_was_wrong_and_what_is_legal(
    subtests: pytest.Subtests,
) -> None:
    block = "Answer with one ```bash block that contains the whole script, and no explanation."
    described = describe_stage.question("uptime", round=0, templates=TEMPLATES)
    cases = {
        "a block is legal in text mode": (
            generate(), "Sure, I can help.", Mode.TEXT,
            f"Your last answer is of no use: the reply contains no script. {block}",
        ),
        "what was wrong is named": (
            generate(), f"{FENCE}bash\nuptime", Mode.TEXT,
            f"Your last answer is of no use: the reply opens a code block and never closes it. {block}",
        ),
        "schema": (
            generate(), "Sure.", Mode.SCHEMA,
            "Your last answer is of no use: the reply contains no script. "
            'Answer with a JSON object: {"script": "..."}',
        ),
        "tool": (
            generate(), "Sure.", Mode.TOOL,
            "Your last answer is of no use: the reply contains no script. "
            "Answer with the tool “answer” and nothing else.",
        ),
        "an echo": (
            compare(), '{"verdict": "match", "differences": ["..."], "reason": "one sentence"}', Mode.TEXT,
            "Your last answer is of no use: it repeats the reply format without filling it in. "
            'Answer with a JSON object: {"verdict": "match" or "mismatch", "differences": ["one sentence"], '
            '"reason": "one sentence"}',
        ),
        "prose": (
            compare(compare_stage.SIMILARITY), "Yes, it does.", Mode.TEXT,
            "Your last answer is of no use: it contains no JSON object. "
            'Answer with a JSON object: {"reason": "one sentence", "verdict": "match" or "mismatch"}',
        ),
        "off the menu": (
            compare(), '{"verdict": "maybe"}', Mode.SCHEMA,
            "Your last answer is of no use: its verdict is not match or mismatch. "
            'Answer with a JSON object: {"verdict": "match" or "mismatch", "differences": ["one sentence"], '
            '"reason": "one sentence"}',
        ),
        "a description in words": (
            described, "#!/bin/bash\nuptime", Mode.TEXT,
            "Your last answer is of no use: it contains code but no description. Answer with two to five sentences.",
        ),
        "empty": (generate(), "", Mode.TEXT, f"Your last answer was empty. {block}"),
    }  # fmt: skip
    for name, (question, reply, mode, line) in cases.items():
        with subtests.test(name):
            assert line_of(question, reply, mode) == line


def test_what_was_cut_short_is_asked_again_in_the_same_words_with_more_room() -> None:
    question, cut = generate(), Reply(f"{FENCE}bash\nup", stop_reason="max_tokens")
    again = ask_again(question, generate_stage.STAGE.read(cut))
    role = RoleSpec("endpoint", 1, "model", Mode.TEXT, max_tokens=100)
    first, second = build_request(question, role), build_request(again, role)
    assert second == {**first, "max_tokens": 200}


@pytest.mark.django_db
def test_the_ledger_says_of_each_reply_how_it_was_read(standin: StandIn) -> None:
    """The first reply contained no answer, so it must not be recorded as read."""
    standin.faults({"kind": "text", "sample": "prose", "task": "similarity"})
    run = services.start_run(
        make_action("delete files older than 30 days in /var/tmp/exports"),
        by=None,
        uses_retrieval=False,
        enqueue=False,
    )
    run_worker.run_to_end(run.pk, give_up_after=60)
    calls = ModelCall.objects.filter(run=run, stage="similarity").order_by("sample")
    assert [(call.sample, call.outcome) for call in calls] == [(0, "unparsed"), (1, "read")]
