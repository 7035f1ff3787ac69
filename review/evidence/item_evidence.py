"""All of an item's sandbox test results for managers, with changes to test cases and reasons for differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.services import StatementEvidence, evidence_in
from pipeline.models import Draft, Run
from pipeline.types import Arm
from review.evidence.campaign_cases import results_of
from review.evidence.cases_in_force import revisions_of, roots_of, sets_of_all
from review.evidence.services import differs
from review.models import CaseRevision, ExecutionLabel, Item, Score
from review.study.first_draft import first_draft_of


@dataclass(frozen=True)
class DraftResults:
    """A script of the item, with its results for each case set that counts."""

    draft: Draft
    is_first: bool
    results: Sequence[StatementEvidence]


@dataclass(frozen=True)
class ItemEvidence:
    """The evidence for an item, which is falsy without results and changes."""

    drafts: Sequence[DraftResults]
    changes: Sequence[CaseRevision]
    labels: Sequence[ExecutionLabel]
    # The number of original case sets that their authors have withdrawn.
    withdrawn: int = 0

    def __bool__(self) -> bool:
        return bool(self.drafts or self.changes)


def read_item_evidence(item: Item, run: Run | None) -> ItemEvidence:
    """Return the evidence for an item. The number of queries does not depend on the number of Drafts."""
    roots = roots_of(item) if run is not None else []
    if run is None or not roots:
        return ItemEvidence((), (), ())
    sets = [one.case_set for one in sets_of_all(item.campaign, roots) if one.case_set is not None]
    drafts = list(run.drafts.order_by("number"))
    found = evidence_in(
        [one.pk for one in sets], {one.sha256 for one in drafts}, among=results_of(item.campaign)
    )
    first = first_draft_of(drafts)
    labels = ExecutionLabel.objects.filter(item=item, current=True).exclude(reason="")
    given = {
        (one.reviewer_id, one.stage): one
        for one in Score.objects.filter(item=item, current=True, arm=Arm.MODEL).select_related(
            "draft"
        )
    }

    def still_differs(label: ExecutionLabel) -> bool:
        score = given.get((label.by_id, label.stage))
        if score is None or score.draft is None:
            return False
        return differs(score, found.get(score.draft.sha256, ()))

    return ItemEvidence(
        drafts=[
            DraftResults(one, first is not None and one.pk == first.pk, found[one.sha256])
            for one in drafts
            if one.sha256 in found
        ],
        changes=revisions_of(item.campaign, roots),
        # Exclude the labels whose score and results no longer differ after a change to the score or the test cases.
        withdrawn=sum(root.withdrawn_at is not None for root in roots),
        labels=[one for one in labels.select_related("by").order_by("pk") if still_differs(one)],
    )
