"""Explain why a run recommends its Draft."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from pipeline.configurations.refinement_gain import assessed_in_turn
from pipeline.models import Draft, Run, Stage
from pipeline.types import ReadingOutcome, StageName, Verdict

_UNREADABLE = {outcome.value for outcome in ReadingOutcome} - {ReadingOutcome.READ.value}


def explain_recommendation(run: Run, drafts: Sequence[Draft], stages: Sequence[Stage]) -> str:
    """Explain the recommendation in one or two sentences, or return "" if the assessor was not involved."""
    said = _explain_assessed(run, drafts, stages)
    offered = offered_draft(stages)
    if offered is None:
        return said
    beside = _(
        "Draft %(number)s is offered as an alternative. It was rewritten from sandbox test results, passes more "
        "checks and fails none that passed before."
    ) % {"number": next((one.number for one in drafts if one.pk == offered), "")}
    return f"{said} {beside}".strip()


def offered_draft(stages: Sequence[Stage]) -> int | None:
    """Return the key of the Draft that was refined from cases and is offered as an alternative, or None."""
    return next(
        (
            one.draft_id
            for one in stages
            if one.name == StageName.RECOMMEND and one.outcome == "offered"
        ),
        None,
    )


def _explain_assessed(run: Run, drafts: Sequence[Draft], stages: Sequence[Stage]) -> str:
    assessed = assessed_in_turn(drafts)
    chosen = next((draft for draft in assessed if draft.pk == run.recommended_id), None)
    if chosen is None:
        return ""
    if len(assessed) == 1:
        return _explain_only(chosen, stages)
    first = assessed[0]
    if chosen is first:
        why = _("Draft %(number)s is shown because no rewrite was assessed as better.")
    elif chosen.assessment.verdict == Verdict.CORRECT:
        why = _(
            "Draft %(number)s is recommended. It was rewritten from feedback and assessed as better "
            "than draft %(first)s."
        )
    else:
        why = _(
            "Draft %(number)s is shown. It was rewritten because the assessor flagged draft %(first)s."
        )
    why %= {"number": chosen.number, "first": first.number}
    return f"{why} {_say_verdict(chosen)}"


def _explain_only(draft: Draft, stages: Sequence[Stage]) -> str:
    verdict = draft.assessment.verdict
    if verdict == Verdict.CORRECT:
        return _("The assessor passed the first script, so it was not rewritten.")
    if verdict == Verdict.UNKNOWN:
        return _("The assessor's reply could not be read, so the script was not rewritten.")
    outcomes = {
        stage.name: stage.outcome
        for stage in stages
        if stage.refinement_id is None and stage.round == 1
    }
    return _say_why_not_rewritten(outcomes.get(StageName.EXPLAIN), outcomes.get(StageName.REFINE))


def _say_why_not_rewritten(explained: str | None, refined: str | None) -> str:
    flagged = _("The assessor flagged the script.")
    if explained == "no_error":
        why = _("The model then found no error, so the script was not rewritten.")
    elif explained in _UNREADABLE:
        why = _("The model's explanation could not be read, so the script was not rewritten.")
    elif refined in ("unchanged", "seen_before"):
        why = _("The rewrite produced no new script.")
    elif refined in _UNREADABLE:
        why = _("The rewritten script could not be read from the reply.")
    else:
        why = _("The script was not refined.")
    return f"{flagged} {why}"


def _say_verdict(draft: Draft) -> str:
    return {
        Verdict.CORRECT.value: _("The assessor passed this draft."),
        Verdict.INCORRECT.value: _("The assessor flagged this draft."),
    }.get(draft.assessment.verdict, _("The assessor's reply about this draft could not be read."))
