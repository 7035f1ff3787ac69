"""The flow of a Run: a pure, bounded function over ports; what it does is in this file, how is elsewhere.

retrieve -> generate -> check (repair once) -> describe -> similarity | difference -> ensemble, and while the
verdict is *incorrect* and rounds are left: explain -> refine -> assess again.

Guard against self-doubt: a refined Draft is recommended only if its own assessment is better, "no error
found" ends the refinement, and so does a script that was there before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from catalog.analysis import Report, has_errors
from catalog.types import Answer, Retrieval
from pipeline.flow import questions
from pipeline.flow.examples import choose_examples
from pipeline.flow.outcome_labels import (
    say_no_script,
    say_retrieved,
    say_size,
    say_verdict,
    why_unknown,
)
from pipeline.flow.ports import Assessed, DraftMade, FeedbackGiven, Ports, Result, Task
from pipeline.flow.reading.readers import OpinionReading, read_explanation, read_opinion, read_text
from pipeline.flow.reading.script_reader import ScriptReading, read_script
from pipeline.flow.static_checks import describe_errors, summarise
from pipeline.types import (
    DraftKind,
    NoScript,
    Opinion,
    Question,
    ReadingOutcome,
    Reply,
    StageName,
    Verdict,
)

ASK_AGAIN = {ReadingOutcome.TRUNCATED, ReadingOutcome.UNPARSED, ReadingOutcome.EMPTY}


class Asked(NamedTuple):
    """A reply, and the question in the words in which it was asked last."""

    question: Question
    reply: Reply


@dataclass
class Flow:
    """One passage of a Task through its stages."""

    task: Task
    ports: Ports
    _seen: set[str] = field(default_factory=set)

    def carry_out(self) -> Result:
        """From statement to recommended Draft; raises NoScript where the model gives none."""
        retrieval = self._retrieve()
        if retrieval and self.task.uses_retrieval and retrieval.answer is Answer.MATCH:
            return self._answer_from(retrieval)
        draft = self._generate(retrieval)
        first = best = latest = self._assess(draft, round=0)
        assessments = [first]
        for round in range(1, self.task.rounds + 1):
            if latest.verdict is not Verdict.INCORRECT:
                break
            feedback = self.explain(latest, round=round)
            if feedback is None or feedback.no_error_found:
                break
            refined = self.refine(latest.draft, feedback, round=round)
            if refined is None:
                break
            latest = self._assess(refined, round=round)
            assessments.append(latest)
            if _rank(latest) > _rank(best):
                best = latest
        self._recommend(best, assessments)
        return Result(recommended=best.draft, verdict=first.verdict, assessments=tuple(assessments))

    def refine_on_demand(
        self, assessed: Assessed, feedback: FeedbackGiven | None
    ) -> Assessed | None:
        """Rewrite a Draft of a finished Run from an expert's feedback, or from the model's where none is given."""
        self._seen.add(assessed.draft.script)
        round = feedback.round if feedback else 1
        if feedback is None:
            feedback = self.explain(assessed, round=round)
            if feedback is None or feedback.no_error_found:
                return None
        refined = self.refine(assessed.draft, feedback, round=round)
        return self._assess(refined, round=round) if refined else None

    # --- Stages ---------------------------------------------------------------------------------------------------

    def _retrieve(self) -> Retrieval | None:
        if not (self.task.uses_retrieval or self.task.uses_examples):
            return None
        self.ports.begin(StageName.RETRIEVE, round=0)
        retrieval = self.ports.retrieve()
        self.ports.end(
            StageName.RETRIEVE,
            round=0,
            outcome=retrieval.answer.value if self.task.uses_retrieval else "examples",
            found=say_retrieved(retrieval, self.task),
        )
        return retrieval

    def _answer_from(self, retrieval: Retrieval) -> Result:
        match = retrieval.matches[0]
        draft = DraftMade(
            kind=DraftKind.RETRIEVED, script=match.script, version_id=match.version_id
        )
        self.ports.keep_draft(draft, self.ports.check(match.script))
        return Result(recommended=draft, matched=True)

    def _generate(self, retrieval: Retrieval | None) -> DraftMade:
        examples = choose_examples(retrieval) if retrieval and self.task.uses_examples else []
        self.ports.begin(StageName.GENERATE, round=0)
        reading = self._ask_script(
            questions.generate(
                self.task.statement,
                self.task.context,
                examples,
                templates=self.task.templates,
            )
        )
        if reading.outcome is not ReadingOutcome.READ:
            problem = say_no_script(reading)
            self.ports.end(
                StageName.GENERATE, round=0, outcome=reading.outcome.value, found=problem, ok=False
            )
            raise NoScript(problem)
        draft = DraftMade(kind=DraftKind.GENERATED, script=reading.script, note=reading.note)
        report = self.ports.check(draft.script)
        self.ports.keep_draft(draft, report)
        self.ports.end(
            StageName.GENERATE,
            round=0,
            outcome="written",
            found=say_size(draft.script, reading.note),
            draft=draft,
        )
        return self._check(draft, report)

    def _check(self, draft: DraftMade, report: Report) -> DraftMade:
        """The Draft itself, or the one that a single repair made of it."""
        self._seen.add(draft.script)
        self.ports.begin(StageName.CHECK, round=draft.round)
        bad = has_errors(report)
        self.ports.end(
            StageName.CHECK,
            round=draft.round,
            outcome="error" if bad else "clean",
            found=summarise(report),
            draft=draft,
            ok=not bad,
        )
        if not bad or draft.kind is not DraftKind.GENERATED:
            return draft
        self.ports.begin(StageName.REPAIR, round=0)
        reading = self._ask_script(
            questions.repair(
                self.task.statement,
                draft.script,
                describe_errors(report),
                templates=self.task.templates,
            )
        )
        if reading.outcome is not ReadingOutcome.READ or reading.script in self._seen:
            self.ports.end(
                StageName.REPAIR,
                round=0,
                outcome="unchanged"
                if reading.outcome is ReadingOutcome.READ
                else reading.outcome.value,
                found="The script stays as it was.",
                ok=False,
            )
            return draft
        repaired = DraftMade(
            kind=DraftKind.REPAIRED, script=reading.script, parent=draft, note=reading.note
        )
        after = self.ports.check(repaired.script)
        self.ports.keep_draft(repaired, after)
        self._seen.add(repaired.script)
        self.ports.end(
            StageName.REPAIR,
            round=0,
            outcome="error" if has_errors(after) else "repaired",
            found=summarise(after),
            draft=repaired,
            ok=not has_errors(after),
        )
        return repaired

    def _assess(self, draft: DraftMade, *, round: int) -> Assessed:
        """CodeSift: from the script alone what it does, then likeness and difference side by side, then both."""
        report = self.ports.check(draft.script)
        if report.syntax_ok is False:
            assessed = Assessed(
                draft=draft,
                verdict=Verdict.INCORRECT,
                syntax_ok=False,
                differences=(f"Bash can't parse the script: {describe_errors(report)}",),
            )
        else:
            assessed = self._compare(draft, report, round=round)
        self.ports.begin(StageName.ENSEMBLE, round=round)
        self.ports.keep_assessment(assessed)
        self.ports.end(
            StageName.ENSEMBLE,
            round=round,
            outcome=assessed.verdict.value,
            found=say_verdict(assessed),
            draft=draft,
        )
        return assessed

    def _compare(self, draft: DraftMade, report: Report, *, round: int) -> Assessed:
        self.ports.begin(StageName.DESCRIBE, round=round)
        question = questions.describe(draft.script, round=round, templates=self.task.templates)
        asked = self._ask([question])[0]
        described = read_text(asked.reply, "functionality")
        self.ports.note_reading(asked.question, described.outcome)
        self.ports.end(
            StageName.DESCRIBE,
            round=round,
            outcome=described.outcome.value,
            found=described.text,
            draft=draft,
            ok=described.outcome is ReadingOutcome.READ,
        )
        if described.outcome is not ReadingOutcome.READ:
            return Assessed(
                draft=draft,
                verdict=Verdict.UNKNOWN,
                why=described.outcome.value,
                syntax_ok=report.syntax_ok,
            )
        similarity, difference = self._ask_opinions(described.text, draft, round=round)
        return Assessed(
            draft=draft,
            verdict=combine(similarity.opinion, difference.opinion),
            why=why_unknown(similarity, difference),
            syntax_ok=report.syntax_ok,
            functionality=described.text,
            similarity=similarity.opinion,
            similarity_reason=similarity.reason,
            difference=difference.opinion,
            difference_reason=difference.reason,
            differences=difference.differences,
        )

    def _ask_opinions(
        self, functionality: str, draft: DraftMade, *, round: int
    ) -> tuple[OpinionReading, OpinionReading]:
        stages = (StageName.SIMILARITY, StageName.DIFFERENCE)
        for stage in stages:
            self.ports.begin(stage, round=round)
        pair = [
            questions.compare(
                stage,
                self.task.statement,
                functionality,
                round=round,
                templates=self.task.templates,
            )
            for stage in stages
        ]
        asked = self._ask(pair)
        readings = [read_opinion(one.reply) for one in asked]
        for one, stage, reading in zip(asked, stages, readings, strict=True):
            self.ports.note_reading(one.question, reading.outcome)
            self.ports.end(
                stage,
                round=round,
                outcome=reading.opinion.value
                if reading.outcome is ReadingOutcome.READ
                else reading.outcome.value,
                found="\n".join(reading.differences) or reading.reason,
                draft=draft,
                ok=reading.outcome is ReadingOutcome.READ,
            )
        return readings[0], readings[1]

    def explain(self, assessed: Assessed, *, round: int) -> FeedbackGiven | None:
        """The model's feedback on a Draft, or None where it can't be read."""
        self.ports.begin(StageName.EXPLAIN, round=round)
        question = questions.explain(
            self.task.statement,
            assessed.draft.script,
            assessed.functionality,
            assessed.noted,
            round=round,
            templates=self.task.templates,
        )
        asked = self._ask([question])[0]
        reading = read_explanation(asked.reply)
        self.ports.note_reading(asked.question, reading.outcome)
        if reading.outcome is not ReadingOutcome.READ:
            self.ports.end(StageName.EXPLAIN, round=round, outcome=reading.outcome.value, ok=False)
            return None
        text = (
            "No error found."
            if reading.no_error
            else "\n".join(f"- {point}" for point in reading.points)
        )
        feedback = FeedbackGiven(
            draft=assessed.draft,
            text=text,
            round=round,
            points=len(reading.points),
            no_error_found=reading.no_error,
        )
        self.ports.keep_feedback(feedback)
        self.ports.end(
            StageName.EXPLAIN,
            round=round,
            outcome="no_error" if reading.no_error else "explained",
            found=text,
            draft=assessed.draft,
        )
        return feedback

    def refine(self, draft: DraftMade, feedback: FeedbackGiven, *, round: int) -> DraftMade | None:
        """A Draft made from feedback, or None where the script came back unchanged, was there before, or not at all."""
        self.ports.begin(StageName.REFINE, round=round)
        reading = self._ask_script(
            questions.refine(
                self.task.statement,
                self.task.context,
                draft.script,
                feedback.text,
                round=round,
                templates=self.task.templates,
            )
        )
        if reading.outcome is not ReadingOutcome.READ:
            self.ports.end(
                StageName.REFINE,
                round=round,
                outcome=reading.outcome.value,
                found=say_no_script(reading),
                ok=False,
            )
            return None
        if reading.script in self._seen:
            same = "unchanged" if reading.script == draft.script else "seen_before"
            self.ports.end(
                StageName.REFINE,
                round=round,
                outcome=same,
                found="No new script came of the feedback.",
            )
            return None
        refined = DraftMade(
            kind=DraftKind.REFINED,
            script=reading.script,
            round=round,
            arm=feedback.arm,
            parent=draft,
            feedback=feedback,
            note=reading.note,
        )
        report = self.ports.check(refined.script)
        self.ports.keep_draft(refined, report)
        self.ports.end(
            StageName.REFINE,
            round=round,
            outcome="rewritten",
            found=say_size(refined.script, reading.note),
            draft=refined,
        )
        return self._check(refined, report)

    def _recommend(self, best: Assessed, assessments: Sequence[Assessed]) -> None:
        if len(assessments) == 1:
            return
        kept_first = best is assessments[0]
        self.ports.begin(StageName.RECOMMEND, round=best.draft.round)
        self.ports.end(
            StageName.RECOMMEND,
            round=best.draft.round,
            outcome="first" if kept_first else "refined",
            found="The refined script was not judged better, so the first one stays recommended."
            if kept_first
            else "The refined script was judged better than the first.",
            draft=best.draft,
        )

    # --- Asking ---------------------------------------------------------------------------------------------------

    def _ask(self, asked: Sequence[Question]) -> list[Asked]:
        """Replies to the questions; one that was cut short or can't be read is asked again, once."""
        answered = [
            Asked(question, reply)
            for question, reply in zip(asked, self.ports.complete(asked), strict=True)
        ]
        again: dict[int, Question] = {}
        for index, one in enumerate(answered):
            outcome = questions.first_reading(one.question, one.reply)
            if outcome in ASK_AGAIN:
                self.ports.note_reading(one.question, outcome)
                again[index] = questions.ask_again(one.question, one.reply, outcome)
        if again:
            second = self.ports.complete(list(again.values()))
            for (index, question), reply in zip(again.items(), second, strict=True):
                answered[index] = Asked(question, reply)
        return answered

    def _ask_script(self, question: Question) -> ScriptReading:
        asked = self._ask([question])[0]
        reading = read_script(asked.reply)
        self.ports.note_reading(asked.question, reading.outcome)
        return reading


def combine(similarity: Opinion, difference: Opinion) -> Verdict:
    """Correct only if both say so, incorrect if either objects; what was not read is never counted as a pass."""
    if Opinion.MISMATCH in (similarity, difference):
        return Verdict.INCORRECT
    if similarity is difference is Opinion.MATCH:
        return Verdict.CORRECT
    return Verdict.UNKNOWN


def _rank(assessed: Assessed) -> int:
    return {Verdict.INCORRECT: 0, Verdict.UNKNOWN: 1, Verdict.CORRECT: 2}[assessed.verdict]
