"""The flow of a Run: a pure, bounded function that runs the stages in `stages` through ports.

retrieve -> generate -> check (repair once) -> describe -> similarity | difference -> ensemble. While the verdict is
*incorrect* and rounds are left: explain -> refine -> assess again.

If the input allows it and the best entry's only problem is an uncertain score: retrieve -> confirm, and generate if
that fails.

With cases: cases -> execute in parallel with describe -> mend_cases. Each later Draft is also executed. With
*feedback*, refine_cases finally rewrites the script from the failed checks, and the new Draft is assessed and executed.

To guard against self-doubt, a refined Draft is recommended only if its own assessment is better. Refinement ends if the
model finds no error or returns an earlier script. A Draft refined from cases is offered but never recommended.
"""

from __future__ import annotations

from catalog.analysis import has_errors
from catalog.execution.cases import CaseSet, State
from catalog.types import Answer, Match
from pipeline.flow.passage import Passage
from pipeline.flow.ports import (
    Assessed,
    CasePorts,
    DraftMade,
    EntryPorts,
    Executed,
    FeedbackGiven,
    FlowInput,
    Ports,
    Result,
)
from pipeline.flow.stages.cases import write_cases
from pipeline.flow.stages.check import check
from pipeline.flow.stages.compare import compare
from pipeline.flow.stages.confirm import confirm, entry_to_confirm
from pipeline.flow.stages.describe import describe
from pipeline.flow.stages.ensemble import combine, conclude, why_unknown
from pipeline.flow.stages.execute import execution
from pipeline.flow.stages.explain import explain
from pipeline.flow.stages.generate import generate
from pipeline.flow.stages.mend_cases import mend_cases
from pipeline.flow.stages.recommend import offer_revised, recommend
from pipeline.flow.stages.refine import refine
from pipeline.flow.stages.refine_cases import is_better, refine_cases, say_generalises
from pipeline.flow.stages.repair import repair
from pipeline.flow.stages.retrieve import retrieve
from pipeline.flow.static_checks import describe_errors
from pipeline.types import CasesUse, DraftKind, ReadingOutcome, Verdict


class Flow:
    """The flow for one input."""

    def __init__(
        self,
        flow_input: FlowInput,
        ports: Ports,
        case_ports: CasePorts | None = None,
        entry_ports: EntryPorts | None = None,
    ) -> None:
        self._passage = Passage(flow_input, ports, case_ports=case_ports, entry_ports=entry_ports)
        self._cases: CaseSet | None = None
        self._executed: dict[DraftMade, Executed] = {}

    def carry_out(self) -> Result:
        """Run all stages and return the recommended Draft. Raises NoScript if the model writes no script."""
        flow_input = self._passage.flow_input
        retrieval = retrieve(self._passage)
        if retrieval and flow_input.uses_retrieval and retrieval.answer is Answer.MATCH:
            return self._answer_from(retrieval.matches[0])
        if retrieval and flow_input.uses_retrieval and flow_input.confirms_matches:
            unsure = entry_to_confirm(retrieval)
            if unsure and confirm(self._passage, unsure):
                return self._answer_from(unsure, confirmed=True)
        draft = self._check_and_repair(generate(self._passage, retrieval))
        if flow_input.cases is not CasesUse.OFF:
            self._cases = write_cases(self._passage)
        first = best = latest = self._assess(draft, round=0)
        self._mend_cases(draft)
        assessments = [first]
        for round in range(1, flow_input.rounds + 1):
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
        if flow_input.cases is CasesUse.FEEDBACK:
            self._offer_revised(best)
        return Result(recommended=best.draft, verdict=first.verdict, assessments=tuple(assessments))

    def refine_on_demand(
        self, assessed: Assessed, feedback: FeedbackGiven | None
    ) -> Assessed | None:
        """Refine a Draft of a finished Run from the feedback, or else the model's feedback, and assess the result."""
        self._passage.seen.add(assessed.draft.script)
        round = feedback.round if feedback else 1
        refined = self._refine(assessed, feedback, round=round)
        return self._assess(refined, round=round) if refined else None

    def _mend_cases(self, draft: DraftMade) -> None:
        """Let the author of the cases revise the checks that failed for the first Draft."""
        executed = self._executed.get(draft)
        if executed is None or not executed.of(State.FAILED):
            return
        again = mend_cases(self._passage, executed, draft)
        self._cases = again.case_set if again else None
        if again is None:
            del self._executed[draft]
        else:
            self._executed[draft] = again

    def _offer_revised(self, best: Assessed) -> None:
        """Refine the recommended Draft from cases and offer the result as an alternative.

        The result is never recommended. Reviewers see, score and decide on the recommended Draft, so the choice must
        not depend on cases, which differ from run to run.
        """
        before = self._executed.get(best.draft)
        if before is None:
            return
        round = self._passage.flow_input.rounds + 1
        draft = refine_cases(self._passage, best.draft, before, round=round)
        if draft is None:
            return
        check(self._passage, draft)
        revised = self._assess(draft, round=round)
        then = self._executed.get(draft) or Executed(
            case_set=before.case_set, reason="Bash can't parse the script."
        )
        better = is_better(revised, then, best, before)
        offer_revised(self._passage, revised, better=better, found=say_generalises(then, before))

    def _answer_from(self, match: Match, *, confirmed: bool = False) -> Result:
        """Answer with the catalogue's unchanged script. A match is not assessed."""
        draft = DraftMade(
            kind=DraftKind.RETRIEVED, script=match.script, version_id=match.version_id
        )
        self._passage.keep_draft(draft)
        return Result(recommended=draft, matched=True, confirmed=confirmed)

    def _check_and_repair(self, draft: DraftMade) -> DraftMade:
        """Check the Draft and return it, or the result of a single repair if it has errors."""
        report = check(self._passage, draft)
        return repair(self._passage, draft, report) if has_errors(report) else draft

    def _refine(
        self, assessed: Assessed, feedback: FeedbackGiven | None, *, round: int
    ) -> DraftMade | None:
        """Return a Draft refined from the feedback, or from the model's own feedback if none is given."""
        if feedback is None:
            feedback = explain(self._passage, assessed, round=round)
            if feedback is None or feedback.no_error_found:
                return None
        refined = refine(self._passage, assessed.draft, feedback, round=round)
        if refined is not None:
            check(self._passage, refined)
        return refined

    def _assess(self, draft: DraftMade, *, round: int) -> Assessed:
        """Assess a Draft as CodeSift does: describe the script, compare the description in both ways and combine the
        opinions.
        """
        report = self._passage.ports.check(draft.script)
        if report.syntax_ok is False:
            assessed = Assessed(
                draft=draft,
                verdict=Verdict.INCORRECT,
                syntax_ok=False,
                differences=(f"Bash can't parse the script: {describe_errors(report)}",),
            )
        else:
            with execution(self._passage, self._cases, draft, round=round) as under_way:
                assessed = self._judge(draft, report.syntax_ok, round=round)
            if under_way.executed is not None:
                self._executed[draft] = under_way.executed
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
