"""Tests that the declarations of stages are complete and match the code that runs the stages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pipeline.display_names import outcome_label, stage_label
from pipeline.error_model.model_behaviour import ModelBehaviour, SeededChance
from pipeline.error_model.script_texts import SimulatedDraft, describe_draft, write_script
from pipeline.flow.passage import Passage
from pipeline.flow.ports import FlowInput
from pipeline.flow.prompts import fence, load, load_all, names
from pipeline.flow.stages import ASKED_STAGES, MAKERS, STAGES, check, compare
from pipeline.models import ModelCall
from pipeline.models import Stage as StageRow
from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import parse_prompt
from pipeline.standin.script_book import load_book
from pipeline.standin.simulated_models import SimulatedAnswers
from pipeline.types import DraftKind, ReadingOutcome, Reply, StageName
from tests.pipeline.flow.test_flow import ScriptedPorts
from tests.pipeline.simulation.asking import MIXED

# Example text for each slot. A new prompt slot needs a line here.
TEXTS = {
    "STATEMENT": "List the files in /var/log",
    "CONTEXT": "The disk is full.",
    "EXAMPLES": "",
    "SCRIPT": "#!/usr/bin/env bash\nls -la /var/log\n",
    "CHECKER": "line 2: Couldn't parse this. [SC1073]",
    "FUNCTIONALITY": "Lists the files in /var/log.",
    "DIFFERENCES": "It lists folders too.",
    "FEEDBACK": "It lists folders too. Use find -type f.",
    "PARAMETERS": "<service>",
    "CASES": "[]",
    "CHECKS": "1.1 World: no files\nExpected: the script prints nothing\nHappened: it printed `x`",
}


def test_every_name_has_one_declaration() -> None:
    assert sorted(stage.name for stage in STAGES) == sorted(StageName)


def test_every_prompt_is_a_stage_that_asks() -> None:
    assert {stage.prompt for stage in ASKED_STAGES.values()} == set(names())


def test_every_draft_of_a_run_is_made_in_one_stage() -> None:
    """Users create Drafts of the other kinds."""
    assert sorted(MAKERS) == sorted(set(DraftKind) - {DraftKind.EDITED, DraftKind.IMPORTED})


def test_what_a_stage_declares_can_be_stored_and_shown(subtests: pytest.Subtests) -> None:
    for stage in STAGES:
        with subtests.test(stage.name):
            assert len(stage.name) <= min(
                StageRow._meta.get_field("name").max_length,
                ModelCall._meta.get_field("stage").max_length,
            )
            assert all(
                len(one) <= StageRow._meta.get_field("outcome").max_length for one in stage.outcomes
            )
            assert stage_label(stage.name) == stage.label
            for outcome, words in stage.outcomes.items():
                assert outcome_label(stage.name, outcome) == words


def test_the_same_outcome_has_its_own_words_in_each_stage() -> None:
    assert outcome_label("similarity", "match") == "similar"
    assert outcome_label("retrieve", "match") == "match found"
    assert outcome_label("generate", "truncated") == "truncated"
    assert outcome_label("removed_since", "done") == "done"


def test_the_demo_model_answers_what_the_stage_reads(subtests: pytest.Subtests) -> None:
    for stage in ASKED_STAGES.values():
        with subtests.test(stage.name):
            slots = {slot: fence(TEXTS[slot], slot) for slot in load(stage.prompt).slots}
            question = stage.question(load_all(), **slots)
            answer = answer_prompt(parse_prompt(question.system, question.user), load_book(None))
            assert answer.keys() <= stage.answer.keys()
            assert stage.read(Reply(json.dumps(answer))).outcome is ReadingOutcome.READ


# Simulated scripts need no repair, their feedback is never shortened, and they are never run.
NOT_SIMULATED = {"repair", "shorten", "cases", "mend_cases", "refine_cases"}


def test_a_simulated_model_answers_what_the_stage_reads(subtests: pytest.Subtests) -> None:
    for stage in ASKED_STAGES.values():
        with subtests.test(stage.name):
            draft = SimulatedDraft(item=7, number=0, right=True)
            told = {
                "STATEMENT": "Simulated statement 7: restart a service",
                "SCRIPT": write_script(draft, lines=4),
                "FUNCTIONALITY": describe_draft(draft),
            }
            slots = {
                slot: fence(told.get(slot, TEXTS[slot]), slot) for slot in load(stage.prompt).slots
            }
            question = stage.question(load_all(), **slots)
            model = SimulatedAnswers(ModelBehaviour(MIXED, SeededChance(1)), script_lines=4)
            answer = model.answer(parse_prompt(question.system, question.user))
            assert answer.keys() <= stage.answer.keys()
            assert bool(answer) != (stage.name in NOT_SIMULATED)


def test_an_outcome_that_is_not_declared_is_refused() -> None:
    ports = ScriptedPorts()
    with (
        pytest.raises(ValueError, match="does not declare"),
        Passage(FlowInput("list"), ports).stage(check.STAGE) as step,
    ):
        step.end("splendid")
    assert ports.stages == []


def test_a_stage_that_is_not_ended_is_a_defect() -> None:
    passage = Passage(FlowInput("list"), ScriptedPorts())
    with pytest.raises(RuntimeError, match="was not ended"), passage.stage(compare.SIMILARITY):
        pass


def test_the_guide_to_the_demo_model_names_every_task() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "demo-model.md").read_text(encoding="utf-8")
    assert [name for name in names() if not re.search(rf"`(Task: )?{name}`", guide)] == []
