"""Tests for matches that scoring alone cannot confirm. The model is only asked if the input allows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog.types import Answer, Match
from pipeline.flow.ports import FlowInput
from pipeline.flow.run_flow import Flow
from pipeline.types import Problem, Question, Reply
from tests.pipeline.flow.test_flow import (
    DESCRIBED,
    LIST,
    OTHER,
    SAME,
    ScriptedPorts,
    found,
    make_match,
    script,
)

UNSURE = make_match(is_confirmable=True)
WRITTEN = {
    "generate": [script(LIST)],
    "describe": [DESCRIBED],
    "similarity": [SAME],
    "difference": [SAME],
}
CONFIRMING = FlowInput("list /var/log", confirms_matches=True)


class EntryPorts(ScriptedPorts):
    """Scripted ports with descriptions of entries."""

    def __init__(self, *matches: Match, known: str = "", **answers: list[object]) -> None:
        super().__init__(found(*matches), **answers)
        self.known = known
        self.kept: list[str] = []

    def known_description(self, match: Match) -> str:
        return self.known

    def keep_description(self, match: Match, text: str) -> None:
        self.kept.append(text)

    @property
    def outcomes(self) -> dict[str, str]:
        return {name: outcome for name, _round, outcome in self.stages}


def carry_out(ports: EntryPorts, flow_input: FlowInput = CONFIRMING) -> tuple[bool, bool]:
    result = Flow(flow_input, ports, None, ports).carry_out()
    return result.matched, result.confirmed


def test_an_entry_that_both_comparisons_confirm_answers() -> None:
    ports = EntryPorts(UNSURE, entry_text=[DESCRIBED], entry_like=[SAME], entry_differ=[SAME])
    assert carry_out(ports) == (True, True)
    assert [one.version_id for one in ports.drafts] == [7] and ports.assessed == []
    assert ports.outcomes == {
        "retrieve": "adapt",
        "entry_text": "read",
        "entry_like": "match",
        "entry_differ": "match",
        "confirm": "confirmed",
    }
    described, *compared = ports.asked
    assert "ls /var/log" in described.user and "list /var/log" not in described.user
    assert described.prompt == "describe", "asked by the prompts that assess Drafts"
    assert 2 in ports.side_by_side and "ls /var/log" not in compared[0].user
    assert ports.kept == [DESCRIBED["functionality"]]


def test_what_was_described_before_is_not_asked_again() -> None:
    ports = EntryPorts(UNSURE, known="Lists logs.", entry_like=[SAME], entry_differ=[SAME])
    assert carry_out(ports) == (True, True)
    assert ports.outcomes["entry_text"] == "known" and ports.kept == []
    assert "Lists logs." in ports.asked[0].user


def test_else_it_stays_a_starting_point_and_a_script_is_written(subtests: pytest.Subtests) -> None:
    cases = {
        "one objects": {"entry_like": [SAME], "entry_differ": [OTHER]},
        "the other objects": {"entry_like": [OTHER], "entry_differ": [SAME]},
        "unread": {"entry_like": [SAME], "entry_differ": [Reply("Yes."), Reply("Yes.")]},
        "refused": {"entry_text": [Reply("", stop_reason="refusal", refusal="refused")]},
    }
    for name, answers in cases.items():
        with subtests.test(name):
            ports = EntryPorts(UNSURE, **{"entry_text": [DESCRIBED]} | answers, **WRITTEN)
            assert carry_out(ports) == (False, False)
            assert ports.outcomes["confirm"] == "not" and ports.outcomes["generate"] == "written"
            written = next(one for one in ports.asked if one.stage == "generate")
            assert "list logs" in written.user, "the entry is an example"


def test_where_no_model_can_be_asked_the_run_goes_on() -> None:
    class Away(EntryPorts):
        def _answer(self, question: Question) -> Reply:
            if question.stage.startswith("entry_"):
                raise Problem("The demo model is switched off.")
            return super()._answer(question)

    for known in ("", "Lists logs."):
        ports = Away(UNSURE, known=known, **WRITTEN)
        assert carry_out(ports) == (False, False)
        assert ports.outcomes["confirm"] == "not"


def test_nothing_is_asked_otherwise(subtests: pytest.Subtests) -> None:
    cases = {
        "not turned on": (UNSURE, FlowInput("list /var/log")),
        "a rule objects": (replace(UNSURE, is_confirmable=False), CONFIRMING),
        "examples only": (UNSURE, replace(CONFIRMING, uses_retrieval=False)),
    }
    for name, (match, flow_input) in cases.items():
        with subtests.test(name):
            ports = EntryPorts(match, **WRITTEN)
            assert carry_out(ports, flow_input) == (False, False)
            assert "confirm" not in ports.outcomes


def test_a_match_by_scoring_is_shown_and_not_assessed() -> None:
    ports = EntryPorts(replace(UNSURE, answer=Answer.MATCH))
    assert carry_out(ports) == (True, False) and ports.asked == []


def test_only_the_best_entry_is_asked_about() -> None:
    other = replace(UNSURE, version_id=8, is_confirmable=False)
    ports = EntryPorts(other, UNSURE, **WRITTEN)
    assert carry_out(ports) == (False, False)
