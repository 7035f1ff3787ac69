"""JSON parts of the report about execution in prepared worlds, and about imported execution results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from catalog.services import hash_statement
from review.evidence.outcomes import STAGES, ExecutedStage
from review.models import Campaign, CaseRevision, Item
from review.study import Criterion
from review.study.execution import Executed, share_of_imported, tabulate_execution

Part = dict[str, object]


def describe_execution(
    campaign: Campaign, outcomes: Sequence[ExecutedStage], *, is_imported: bool
) -> Part:
    """What was run in cases, by Configuration and stage, with how many of it came with a file; and imported rewards.

    `is_imported`: whether any item came with a result. Empty where there is neither.
    """
    rows: dict[tuple[str, str], list[Executed]] = defaultdict(list)
    imported_rows: Counter[tuple[str, str]] = Counter()
    for one in outcomes:
        imported_rows[one.configuration, one.stage] += one.is_imported
        rows[one.configuration, one.stage].append(one.result)
    ran = [
        {
            "configuration": configuration,
            "stage": stage,
            "imported": imported_rows[configuration, stage],
            **{criterion.value: tabulate_execution(found, criterion) for criterion in Criterion},
        }
        for (configuration, stage), found in sorted(
            rows.items(), key=lambda item: (item[0][0], STAGES.index(item[0][1]))
        )
    ]
    imported = _describe_imported(campaign) if is_imported else []
    if not ran and not imported:
        return {}
    changes = CaseRevision.objects.filter(item__campaign=campaign).order_by()
    return {
        "configurations": ran,
        "intercode": imported,
        "case_changes": dict(Counter(changes.values_list("kind", flat=True))),
    }


def _describe_imported(campaign: Campaign) -> list[Part]:
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    items = (
        Item.objects.filter(campaign=campaign, execution__isnull=False, case__purpose="real")
        .exclude(state=Item.State.WITHDRAWN)
        .order_by("configuration__name", "pk")
    )
    for configuration, statement, value in items.values_list(
        "configuration__name", "case__action__statement", "execution"
    ):
        found[configuration].append((hash_statement(statement), value or 0.0))
    return [
        {"configuration": configuration, "intercode": share_of_imported(rows)}
        for configuration, rows in found.items()
    ]
