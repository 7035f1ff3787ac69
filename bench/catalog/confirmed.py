"""Measure how confirmation by the assessor improves retrieval, for entries that only lack confidence.

The judge is the demo model, which follows rules and is not a language model. Its confirmations show how the flow works
and how much it costs, but not how well a language model judges.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bench.catalog.asking import Query
from bench.figures import Figure, figure
from catalog.relevance import RelevanceModel, judge_all
from catalog.types import Answer
from core.intervals import wilson
from pipeline.flow.prompts import load_all
from pipeline.flow.reading.readers import read_opinion, read_text
from pipeline.flow.stages import confirm
from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import parse_prompt
from pipeline.standin.script_book import load_book
from pipeline.standin.server.token_counts import count_tokens
from pipeline.types import Question, Reply


class Outcome(NamedTuple):
    """The result and the cost of a query."""

    has_answer: bool
    is_right: bool  # whether the best entry is right
    by_scoring: bool
    was_asked: bool
    is_confirmed: bool
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def is_answered(self) -> bool:
        """Return whether the user sees the best entry as the answer."""
        return self.by_scoring or self.is_confirmed


class Judge:
    """The demo model as an assessor. It describes each script only once."""

    def __init__(self) -> None:
        self._book = load_book(None)
        self._templates = load_all()
        self._described: dict[str, str] = {}

    def ask(self, query: Query, model: RelevanceModel) -> Outcome:
        """Run the flow for a query. If the best entry only lacks confidence, ask the model to confirm it."""
        [first, *_] = judge_all(query.asked.statement, query.asked.candidates, model)
        is_right = query.asked.right[first.place]
        by_scoring = first.judgement.answer is Answer.MATCH
        if by_scoring or not first.judgement.lacks_only_certainty:
            return Outcome(query.has_answer, is_right, by_scoring, False, False)
        script = query.asked.candidates[first.place].script
        used: list[tuple[int, int]] = []
        if script not in self._described:
            reply = self._reply(confirm.describe_question(script, templates=self._templates), used)
            self._described[script] = read_text(reply, "functionality").text
        functionality = self._described[script]
        is_confirmed = False
        if functionality:
            questions = confirm.compare_questions(
                query.asked.statement, functionality, templates=self._templates
            )
            similarity, difference = (read_opinion(self._reply(one, used)) for one in questions)
            is_confirmed = confirm.is_match(similarity, difference)
        tokens = [sum(column) for column in zip(*used, strict=True)] or [0, 0]
        return Outcome(
            query.has_answer, is_right, False, True, is_confirmed, len(used), tokens[0], tokens[1]
        )

    def _reply(self, question: Question, used: list[tuple[int, int]]) -> Reply:
        text = json.dumps(answer_prompt(parse_prompt(question.system, question.user), self._book))
        used.append(
            (count_tokens(question.system) + count_tokens(question.user), count_tokens(text))
        )
        return Reply(text)


def describe(outcomes: Sequence[Outcome]) -> list[Figure]:
    """Return the shares of answered and right statements, by score alone and with the judge, and the costs."""
    answerable = [one for one in outcomes if one.has_answer]
    figures = []
    for name, is_answered in (
        ("by scoring alone", lambda one: one.by_scoring),
        ("with the demo model's judge", lambda one: one.is_answered),
    ):
        answered = [one for one in answerable if is_answered(one)]
        everybody = [one for one in outcomes if is_answered(one)]
        figures += [
            _share(f"{name}: answerable statements answered", answered, answerable),
            _share(f"{name}: right among all answers", _right(everybody), everybody),
        ]
    asked = [one for one in outcomes if one.was_asked]
    confirmed = [one for one in asked if one.is_confirmed]
    figures += [
        _share("the judge is asked", asked, outcomes),
        _share("right among those it is asked about", _right(asked), asked),
        _share("the judge confirms", confirmed, asked),
        _share("right among the confirmed", _right(confirmed), confirmed),
    ]
    for what in ("calls", "input_tokens", "output_tokens"):
        total = sum(getattr(one, what) for one in outcomes)
        figures.append(
            figure(
                f"{what.replace('_', ' ')} a statement",
                total / len(outcomes),
                note=f"{total} for {len(outcomes)} statements; {total / max(1, len(asked)):.1f} a time it is asked",
            )
        )
    return figures


def _right(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [one for one in outcomes if one.is_right]


def _share(what: str, part: Sequence[Outcome], whole: Sequence[Outcome]) -> Figure:
    if not whole:
        return figure(what, None, note="there were none")
    low, high = wilson(len(part), len(whole))
    note = f"{len(part)} of {len(whole)}, 95 % from {low:.3f} to {high:.3f}"
    return figure(what, len(part) / len(whole), note=note)
