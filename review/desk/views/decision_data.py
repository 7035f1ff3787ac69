"""Context of the decision form on the review page."""

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

# Errors in these fields are about the decision as a whole. All other errors are shown next to their field.
_WHOLE = ("kind", "draft", "shown")


@dataclass(frozen=True)
class ShownDraft:
    """A Draft that the reviewer may see.

    `number` counts only visible Drafts, because gaps would reveal hidden Drafts.
    """

    draft: Draft
    number: int
    label: str
    findings: list[DraftFinding]
    score: Score | None

    @property
    def risk(self) -> str:
        """Return the risk of running the script, or "" if its text was erased."""
        return risk_of(self.draft, self.findings) or ""

    @property
    def coverage(self) -> Coverage | None:
        """Return the static analysis coverage of the script, or None."""
        return coverage_of_draft(self.draft)


@dataclass(frozen=True)
class Decides:
    """The decision form, which is shown next to the scripts."""

    form: str  # ID of the HTML form that the fields belong to
    shown: str  # token of the Drafts on this page
    serious: str  # labels of the high-risk scripts
    asks_why: bool  # True if approving requires a reason
    why_error: str
    error: str
    opens: str  # name of the dialog to open because its input was rejected


def show_decides(
    desk: ItemView,
    step: Step | None,
    drafts: Sequence[ShownDraft],
    refused: Refused | None,
    typed: Mapping[str, str],
) -> Decides:
    """Return the decision form for an item of the review queue."""
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
