"""Find the items behind a number in the execution tables."""

from __future__ import annotations

from django.db.models import F, Func, QuerySet, TextField, Value
from django.utils.translation import gettext as _

from core.errors import BadInput
from review.evidence.outcomes import STAGES, ExecutedStage, read_outcomes
from review.models import Campaign, Item
from review.study import Criterion
from review.study.execution import LABELS, NO_VERDICT, NOT_SAID, OUTCOMES, SIDES

ALL, VERDICT, DIFFER = "all", "verdict", "differ"


def find_executed(
    campaign: Campaign,
    *,
    configuration: str,
    stage: str,
    execution: str,
    side: str,
    reason: str,
    criterion: Criterion,
) -> tuple[QuerySet[Item], dict[int, ExecutedStage]]:
    """Return the items in a cell, and the execution result of each item. An empty `side` or `reason` matches any value.

    Raises BadInput if the cell does not exist.
    """
    if stage not in STAGES or execution not in (ALL, VERDICT, DIFFER, *OUTCOMES):
        raise BadInput(_("The sandbox tables do not have this cell."), field="execution")
    if side not in ("", *SIDES) or reason not in ("", *LABELS, NOT_SAID):
        raise BadInput(_("The sandbox tables do not have this cell."), field="side")
    found = {
        one.item: one
        for one in read_outcomes(campaign)
        if one.configuration == configuration
        and one.stage == stage
        and _is_in(one, execution, criterion)
        and side in ("", one.result.side(criterion))
        and _has(one, reason)
    }
    kept = Func(F("pattern"), Value('"'), Value(2), function="split_part", output_field=TextField())
    return campaign.items.filter(pk__in=found).annotate(counted_as=kept), found


def _is_in(one: ExecutedStage, execution: str, criterion: Criterion) -> bool:
    if execution == DIFFER:
        return one.result.differs(criterion)
    if execution == VERDICT:
        return one.result.outcome != NO_VERDICT
    return execution in (ALL, one.result.outcome)


def _has(one: ExecutedStage, reason: str) -> bool:
    if reason == NOT_SAID:
        return not one.result.labels
    return not reason or reason in one.result.labels
