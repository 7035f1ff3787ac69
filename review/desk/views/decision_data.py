"""Context of the decision form on the review screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catalog.analysis import Coverage
from core.errors import BadInput, Refused
from pipeline.execution.draft_checks import coverage_of_draft, is_serious, risk_of
from pipeline.models import Draft, DraftFinding
from review.blinding.item_view import ItemView, Step
from review.desk.shown_drafts import seal
from review.models import Decision, Score

# What is wrong with the decision as a whole; everything else has a field of its own.
_WHOLE = ("kind", "draft", "shown")


@dataclass(frozen=True)
class ShownDraft:
    """One Draft that may be seen now; its `number` counts those that may, for the run's own tells of others."""

    draft: Draft
    number: int
    label: str
    findings: list[DraftFinding]
    score: Score | None

    @property
    def risk(self) -> str:
        """How much can go wrong when it runs; empty where its text was erased."""
        return risk_of(self.draft, self.findings) or ""

    @property
    def coverage(self) -> Coverage | None:
        """How many of its lines were analyzed."""
        return coverage_of_draft(self.draft)


@dataclass(frozen=True)
class Decides:
    """What the decision's part of the screen shows beside the scripts."""

    form: str  # the id of the form that its fields belong to
    shown: str  # the token of what stands on this screen
    serious: str  # the scripts that are a high risk, by their labels
    asks_why: bool  # whether approving takes a reason
    why_error: str
    error: str
    opens: str  # the dialog that opens by itself, for what was refused in it


def show_decides(
    desk: ItemView,
    step: Step | None,
    drafts: Sequence[ShownDraft],
    refused: Refused | None,
    typed: Mapping[str, str],
) -> Decides:
    """For an item of the live queue."""
    field = refused.field if isinstance(refused, BadInput) else ""
    is_rejection = typed.get("kind", "").startswith(Decision.Kind.REJECT)
    serious = [one.label for one in drafts if is_serious(one.findings)]
    why_error = str(refused) if field == "reason" and not is_rejection else ""
    return Decides(
        form="stage" if step else "decide",
        shown=seal(desk),
        serious=", ".join(serious),
        asks_why=bool(serious or why_error),
        why_error=why_error,
        error=str(refused) if field in _WHOLE else "",
        opens="reject" if field == "reason" and is_rejection else "",
    )
