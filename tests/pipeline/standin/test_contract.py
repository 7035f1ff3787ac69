"""Tests that the demo model reads the pipeline's prompts correctly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.flow import prompts
from pipeline.flow.prompts import fence
from pipeline.standin.prompt_contract import Prompt, parse_prompt

HARD = st.text(alphabet="script-12</>\n#a ", max_size=40)


@given(script=HARD, statement=HARD)
def test_every_fenced_text_comes_back_unaltered(script: str, statement: str) -> None:
    user = f"Look:\n{fence(statement, 'STATEMENT')}\nand\n{fence(script, 'SCRIPT')}\nDone."
    found = parse_prompt("Task: repair\nMore.", user)
    assert found == Prompt("repair", (("STATEMENT", statement), ("SCRIPT", script)))


def test_fenced_texts_come_back_in_their_order() -> None:
    user = "\n".join(fence(text, "EXAMPLE_STATEMENT") for text in ("nearest", "second"))
    assert parse_prompt("Task: generate", user).all("EXAMPLE_STATEMENT") == ["nearest", "second"]
    assert parse_prompt("Be brief.", "<script-1>\nls\n") == Prompt("", ())


def test_each_prompt_of_the_pipeline_names_its_task() -> None:
    wrong = {
        name: got
        for name in prompts.names()
        if (got := parse_prompt(prompts.load(name).system, "").task) != name
    }
    assert not wrong
