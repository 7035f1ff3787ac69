"""Recommend: record which of multiple Drafts is recommended, and why."""

from __future__ import annotations

from collections.abc import Sequence

from core.translation import gettext_noop as _
from pipeline.flow.declaration import Stage
from pipeline.flow.passage import Passage
from pipeline.flow.ports import Assessed
from pipeline.types import StageName, Verdict

STAGE = Stage(
    name=StageName.RECOMMEND,
    label=_("Recommend"),
    outcomes={
        "first": _("first script"),
        "refined": _("refined script"),
        "offered": _("kept, with an alternative"),
        "before": _("previous script"),
    },
)


def recommend(passage: Passage, best: Assessed, assessments: Sequence[Assessed]) -> None:
    """Record whether the first Draft stays recommended, and why."""
    if len(assessments) == 1:
        return
    kept_first = best is assessments[0]
    with passage.stage(STAGE, round=best.draft.round) as step:
        step.end(
            "first" if kept_first else "refined",
            found="The refined script was not assessed as better, so the first one is kept."
            if kept_first
            else "The refined script was assessed as better than the first one."
            if best.verdict is Verdict.CORRECT
            else "The first script was flagged; the verdict on the refined one is unknown.",
            draft=best.draft,
        )


def offer_revised(passage: Passage, revised: Assessed, *, better: bool, found: str) -> None:
    """Record whether the script refined from cases is offered next to the recommended script, and why."""
    with passage.stage(STAGE, round=revised.draft.round) as step:
        says = (
            "The new script passes more sandbox checks and fails none that passed before, so it is "
            "offered as an alternative."
            if better
            else "The script refined from the tests is not better, so it is not offered."
        )
        step.end("offered" if better else "before", found=f"{says} {found}", draft=revised.draft)
