"""JSON parts of the report about sandbox test results and imported execution results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, QuerySet

from pipeline.models import Configuration
from review.counting.counts import Counts
from review.evidence.campaign_cases import changes_of
from review.evidence.outcomes import STAGES, read_outcomes
from review.models import Campaign, CaseRevision
from review.report import kept_parts
from review.report.kept_parts import Kept
from review.study import Criterion
from review.study.execution import Executed, share_of_imported, tabulate_execution

Part = dict[str, object]
Arms = Sequence[tuple[Configuration, Counts]]


def tabulate_outcomes(campaign: Campaign) -> list[Part]:
    """Return the sandbox results and the number of imported results, by Configuration and stage."""
    rows: dict[tuple[str, str], list[Executed]] = defaultdict(list)
    imported_rows: Counter[tuple[str, str]] = Counter()
    for one in read_outcomes(campaign):
        imported_rows[one.configuration, one.stage] += one.is_imported
        rows[one.configuration, one.stage].append(one.result)
    return [
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


EXECUTED = kept_parts.Part("executed", tabulate_outcomes)


def describe_execution(campaign: Campaign, ran: Kept, arms: Arms) -> Part:
    """Return the sandbox results and imported rewards, or an empty dictionary if the campaign has neither."""
    imported = _describe_imported(arms)
    if not ran.data and not imported:
        return {}
    changed_by = _count_changes(changes_of(campaign).order_by())
    return {
        "configurations": ran.data,
        **({"at": ran.at.isoformat(timespec="seconds")} if ran.at else {}),
        "intercode": imported,
        "case_changes": {
            kind: count
            for kind in CaseRevision.Kind.values
            if (count := sum(one[kind] for one in changed_by))
        },
        "changed_by": changed_by,
    }


def _count_changes(changes: QuerySet[CaseRevision]) -> list[dict[str, Any]]:
    """Count each reviewer's changes. The text of changes is excluded, because snapshots would outlive its deletion."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    rows = changes.values_list("by__username", "kind").annotate(count=Count("pk"))
    for person, kind, count in rows:
        counts[person][kind] = count
    return [
        {"reviewer": person, **{kind: counts[person][kind] for kind in CaseRevision.Kind.values}}
        for person in sorted(counts)
    ]


def _describe_imported(arms: Arms) -> list[Part]:
    return [
        {"configuration": arm.name, "intercode": share}
        for arm, counts in arms
        if (share := share_of_imported(counts.items, counts.clusters)) is not None
    ]
