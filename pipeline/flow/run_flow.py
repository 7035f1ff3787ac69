"""The flow of a Run: a pure, bounded function over ports. The order of stages stands here, each stage in `stages`.

retrieve -> generate -> check (repair once) -> describe -> similarity | difference -> ensemble, and while the
verdict is *incorrect* and rounds are left: explain -> refine -> assess again.

Guard against self-doubt: a refined Draft is recommended only if its own assessment is better, "no error
found" ends the refinement, and so does a script that was there before.
"""

from __future__ import annotations

from catalog.analysis import has_errors
from catalog.types import Answer, Retrieval
from pipeline.flow.passage import Passage
from pipeline.flow.ports import Assessed, DraftMade, FeedbackGiven, Ports, Result, Task
from pipeline.flow.stages.check import check
from pipeline.flow.stages.compare import compare
from pipeline.flow.stages.describe import describe
from pipeline.flow.stages.ensemble import combine, conclude, why_unknown
from pipeline.flow.stages.explain import explain
from pipeline.flow.stages.generate import generate
from pipeline.flow.stages.recommend import recommend
from pipeline.flow.stages.refine import refine
from pipeline.flow.stages.repair import repair
from pipeline.flow.stages.retrieve import retrieve
from pipeline.flow.static_checks import describe_errors
from pipeline.types import DraftKind, ReadingOutcome, Verdict


class Flow:
    """One passage of a Task through the stages."""

    def __init__(self, task: Task, ports: Ports) -> None:
        self._passage = Passage(task, ports)

    def carry_out(self) -> Result:
        """From statement to recommended Draft; raises NoScript where the model gives none."""
        task = self._passage.task
        retrieval = retrieve(self._passage)
        if retrieval and task.uses_retrieval and retrieval.answer is Answer.MATCH:
            return self._answer_from(retrieval)
        draft = self._check_and_repair(generate(self._passage, retrieval))
        first = best = latest = self._assess(draft, round=0)
        assessments = [first]
        for round in range(1, task.rounds + 1):
            if latest.verdict is not Verdict.INCORRECT:
                break
            refined = self._refine(latest, None, round=round)
            if refined is None:
                break
            latest = self._assess(refined, round=round)
            assessments.append(latest)
            if _rank(latest) > _rank(best):
                best = latest
        recommend(self._passage, best, assessments)
        return Result(recommended=best.draft, verdict=first.verdict, assessments=tuple(assessments))

    def refine_on_demand(
        self, assessed: Assessed, feedback: FeedbackGiven | None
    ) -> Assessed | None:
        """Rewrite a Draft of a finished Run from an expert's feedback, or from the model's where none is given."""
        self._passage.seen.add(assessed.draft.script)
        round = feedback.round if feedback else 1
        refined = self._refine(assessed, feedback, round=round)
        return self._assess(refined, round=round) if refined else None

    def _answer_from(self, retrieval: Retrieval) -> Result:
        """The catalogue's script as it is: a match is shown, not assessed."""
        match = retrieval.matches[0]
        draft = DraftMade(
            kind=DraftKind.RETRIEVED, script=match.script, version_id=match.version_id
        )
        self._passage.keep_draft(draft)
        return Result(recommended=draft, matched=True)

    def _check_and_repair(self, draft: DraftMade) -> DraftMade:
        """The Draft itself, or the one that a single repair made of it."""
        report = check(self._passage, draft)
        return repair(self._passage, draft, report) if has_errors(report) else draft

    def _refine(
        self, assessed: Assessed, feedback: FeedbackGiven | None, *, round: int
    ) -> DraftMade | None:
        """The Draft that the feedback brought; the model's own feedback where none is given."""
        if feedback is None:
            feedback = explain(self._passage, assessed, round=round)
            if feedback is None or feedback.no_error_found:
                return None
        refined = refine(self._passage, assessed.draft, feedback, round=round)
        if refined is not None:
            check(self._passage, refined)
        return refined

    def _assess(self, draft: DraftMade, *, round: int) -> Assessed:
        """CodeSift: from the script alone what it does, then similarity and difference side by side, then both."""
        report = self._passage.ports.check(draft.script)
        if report.syntax_ok is False:
            assessed = Assessed(
                draft=draft,
                verdict=Verdict.INCORRECT,
                syntax_ok=False,
                differences=(f"Bash can't parse the script: {describe_errors(report)}",),
            )
        else:
            assessed = self._judge(draft, report.syntax_ok, round=round)
        conclude(self._passage, assessed, round=round)
        return assessed

    def _judge(self, draft: DraftMade, syntax_ok: bool | None, *, round: int) -> Assessed:
        described = describe(self._passage, draft, round=round)
        if described.outcome is not ReadingOutcome.READ:
            return Assessed(
                draft=draft,
                verdict=Verdict.UNKNOWN,
                why=described.outcome.value,
                syntax_ok=syntax_ok,
            )
        similarity, difference = compare(self._passage, described.text, draft, round=round)
        return Assessed(
            draft=draft,
            verdict=combine(similarity.opinion, difference.opinion),
            why=why_unknown(similarity, difference),
            syntax_ok=syntax_ok,
            functionality=described.text,
            similarity=similarity.opinion,
            similarity_reason=similarity.reason,
            difference=difference.opinion,
            difference_reason=difference.reason,
            differences=difference.differences,
        )


def _rank(assessed: Assessed) -> int:
    return {Verdict.INCORRECT: 0, Verdict.UNKNOWN: 1, Verdict.CORRECT: 2}[assessed.verdict]
