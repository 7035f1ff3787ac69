"""Read the sandbox test results of a campaign's scripts for its report.

Rows are read as plain values, because a study may have 100,000 items, and creating model objects takes several times as
long.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from catalog.models import CaseSet, CheckResult, CheckState, Execution
from catalog.services import case_sets_of_statements, hash_statement, newest_results
from pipeline.models import Draft
from pipeline.types import Arm, DraftKind
from review.evidence.campaign_cases import results_of
from review.models import Campaign, CampaignCaseSet, CaseRevision, ExecutionLabel, Item, Score
from review.study import ItemPattern
from review.study.execution import TO_RUN, Executed, final_score_of
from review.study.first_draft import first_draft_of
from review.study.types import FinalScore, Origin

STAGES = ("script", "refined")
_AT_ONCE = 20_000
_NONE: Mapping[str, int] = {}

_FinalScores = dict[str, FinalScore]  # final scores by stage


class ExecutedStage(NamedTuple):
    """A script or refined script of an item, with its sandbox test results."""

    item: int
    configuration: str
    stage: str
    result: Executed
    is_imported: bool = False  # at least one of the results was imported


class _ItemRow(NamedTuple):
    pk: int
    pattern: str
    run: int | None
    case: int
    configuration: str
    statement: str


class _DraftRow(NamedTuple):
    run: int
    pk: int
    kind: str
    sha256: str
    refinement_id: int | None
    on: int | None  # the Draft that the feedback is on
    said: str | None  # the arm of the feedback


class _Result(NamedTuple):
    sha256: str
    case_set: int
    pk: int
    passed: int
    failed: int
    others: int
    imported: bool


def read_outcomes(campaign: Campaign) -> list[ExecutedStage]:
    """Return the executed scripts of all real items, with a few queries per slice of items.

    In the review queue, only decided items are included, because results of waiting items must stay hidden.
    """
    if campaign.is_live:
        return [one for slice_ in _live_slices(campaign) for one in _read_live(campaign, slice_)]
    # Most campaigns have no tests, and a single query is enough to check that.
    if not CampaignCaseSet.objects.filter(case__campaign=campaign).exists():
        return []
    return [one for slice_ in _slices(campaign) for one in _read(campaign, slice_)]


def _in_slices(items: QuerySet[Item]) -> Iterator[list[_ItemRow]]:
    rows = items.order_by("pk").values_list(
        "pk", "pattern", "run", "case", "configuration__name", "case__action__statement"
    )
    last = 0
    while found := [_ItemRow(*row) for row in rows.filter(pk__gt=last)[:_AT_ONCE]]:
        yield found
        last = found[-1].pk


def _slices(campaign: Campaign) -> Iterator[list[_ItemRow]]:
    bound = CampaignCaseSet.objects.filter(case=OuterRef("case"))
    items = (
        campaign.items.filter(Exists(bound), case__purpose="real", case__action__erased_at=None)
        .exclude(state=Item.State.WITHDRAWN)
        .exclude(pattern="")
    )
    return _in_slices(items if campaign.pilot_counts else items.exclude(pilot=True))


def _read(campaign: Campaign, items: Sequence[_ItemRow]) -> Iterator[ExecutedStage]:
    """Yield the executed stages of a study. The final scores are read from each item's `pattern`."""
    by_pattern: dict[str, _FinalScores | None] = {}
    final_scores: dict[int, _FinalScores] = {}
    for item in items:
        text = item.pattern.split('"', 2)[1]
        if text not in by_pattern:
            by_pattern[text] = _final_scores_of(ItemPattern.from_text(text))
        found = by_pattern[text]
        if found is not None:
            final_scores[item.pk] = found
    return _execute(campaign, items, _roots_of({item.case for item in items}), final_scores)


def _final_scores_of(pattern: ItemPattern) -> _FinalScores | None:
    if pattern.origin is Origin.RETRIEVED:
        return None
    refined = pattern.script if pattern.is_same else pattern.refined
    return {"script": pattern.script, "refined": refined}


def _live_slices(campaign: Campaign) -> Iterator[list[_ItemRow]]:
    if not CaseSet.objects.exists():
        return iter(())
    items = campaign.items.filter(state=Item.State.CLOSED, case__action__erased_at=None).exclude(
        run__drafts__kind=DraftKind.RETRIEVED
    )
    return _in_slices(items)


def _read_live(campaign: Campaign, items: Sequence[_ItemRow]) -> Iterator[ExecutedStage]:
    """Yield the executed stages of the review queue, with the statements' test suites and the reviewers' scores."""
    hashes = {item.pk: hash_statement(item.statement) for item in items}
    written: dict[str, list[int]] = defaultdict(list)
    for one in case_sets_of_statements(set(hashes.values())):
        written[one.statement_sha256].append(one.pk)
    with_cases = [item for item in items if hashes[item.pk] in written]
    given: dict[tuple[int, str], set[int]] = defaultdict(set)
    scores = Score.objects.filter(
        item__in=[item.pk for item in with_cases], current=True, arm=Arm.MODEL
    )
    for item_key, stage, value in scores.values_list("item", "stage", "value"):
        given[item_key, stage].add(value)
    return _execute(
        campaign,
        with_cases,
        {item.case: written[hashes[item.pk]] for item in with_cases},
        {
            item.pk: {stage: final_score_of(given[item.pk, stage]) for stage in STAGES}
            for item in with_cases
        },
    )


def _execute(
    campaign: Campaign,
    items: Sequence[_ItemRow],
    roots: Mapping[int, Sequence[int]],
    final_scores: Mapping[int, _FinalScores],
) -> Iterator[ExecutedStage]:
    """Yield the executed stages of the items.

    `roots` maps each case to its original case sets, and `final_scores` maps each item to the reviewers' final scores.
    """
    scripts = _scripts_of(item.run for item in items if item.run)
    merged = _merged_in(campaign)
    known = {pk for found in roots.values() for pk in found}
    results, others = _results(
        campaign,
        {sha256 for found in scripts.values() for sha256 in found.values()},
        # Include the original sets, because scripts may have been run against them.
        known | {pk for root, pk in merged.items() if pk is not None and root in known},
    )
    labels = _labels(items)
    checks = _count_checks(_missing(items, roots, merged, scripts, results))
    for item in items:
        own, written = scripts.get(item.run or 0, {}), roots.get(item.case, ())
        # Two roots may have the same merged set. A root has none if all its tests were removed.
        sets = {found for pk in written if (found := merged.get(pk, pk)) is not None}
        was_run = any(
            (sha256, pk) in results for sha256 in own.values() for pk in sets.union(written)
        )
        if item.pk not in final_scores or not (sets and was_run):
            continue
        statement = hash_statement(item.statement)
        for stage, sha256 in own.items():
            passed = failed = 0
            beside = _NONE
            is_imported = False
            for case_set in sets:
                result = results.get((sha256, case_set))
                if result is None:
                    beside = Counter(beside) + Counter({TO_RUN: checks[case_set]})
                    continue
                is_imported |= result.imported
                passed, failed = passed + result.passed, failed + result.failed
                if result.pk in others:
                    beside = Counter(beside) + Counter(others[result.pk])
            yield ExecutedStage(
                item=item.pk,
                configuration=item.configuration,
                stage=stage,
                is_imported=is_imported,
                result=Executed(
                    statement=statement,
                    expert=final_scores[item.pk][stage],
                    passed=passed,
                    failed=failed,
                    others=beside,
                    labels=labels.get((item.pk, stage), ()),
                ),
            )


def _missing(
    items: Iterable[_ItemRow],
    roots: Mapping[int, Sequence[int]],
    merged: Mapping[int, int | None],
    scripts: Mapping[int, Mapping[str, str]],
    results: Collection[tuple[str, int]],
) -> set[int]:
    """Return the keys of counted case sets for which at least one script has no result."""
    return {
        found
        for item in items
        for pk in roots.get(item.case, ())
        if (found := merged.get(pk, pk)) is not None
        and any(
            (sha256, found) not in results for sha256 in scripts.get(item.run or 0, {}).values()
        )
    }


def _scripts_of(runs: Iterable[int]) -> dict[int, dict[str, str]]:
    """Return the script hashes by run and stage."""
    drafts = (
        Draft.objects.filter(run__in=list(runs))
        .order_by("run_id", "number")
        .values_list(
            *("run", "pk", "kind", "sha256", "refinement"), "feedback__draft", "feedback__arm"
        )
    )
    rows = (_DraftRow(*row) for row in drafts)
    found: dict[int, dict[str, str]] = {}
    for run, group in groupby(rows, key=lambda one: one.run):
        of_run = list(group)
        first = first_draft_of(of_run)
        if first is None:
            continue
        found[run] = {"script": first.sha256}
        for one in of_run:
            if one.kind == DraftKind.REFINED and one.on == first.pk and one.said == Arm.MODEL:
                found[run]["refined"] = one.sha256
                break
    return found


def _roots_of(cases: Collection[int]) -> dict[int, list[int]]:
    """Return the original case sets fixed for each case."""
    rows = CampaignCaseSet.objects.filter(case__in=cases).order_by("case_set")
    found: dict[int, list[int]] = defaultdict(list)
    for case, case_set in rows.values_list("case", "case_set"):
        found[case].append(case_set)
    return found


def _merged_in(campaign: Campaign) -> dict[int, int | None]:
    """Return the version of each changed case set with all reviewers' changes, or None if no test remains."""
    changes = CaseRevision.objects.filter(item__campaign=campaign).order_by("pk")
    return dict(changes.values_list("root", "merged"))


def _results(
    campaign: Campaign, scripts: set[str], sets: set[int]
) -> tuple[dict[tuple[str, int], _Result], dict[int, Mapping[str, int]]]:
    """Return the newest result of each script for each set, and each result's counts of checks without a verdict."""
    newest = newest_results(
        Execution.objects.filter(
            results_of(campaign), script_sha256__in=scripts, case_set__in=sets
        ),
        "script_sha256",
        "case_set_id",
    ).values_list("script_sha256", "case_set", "pk", "passed", "failed", "others", "imported")
    results = {row[:2]: _Result(*row) for row in newest}
    unsure = [one.pk for one in results.values() if one.others]
    states: dict[int, dict[str, int]] = defaultdict(dict)
    judged = Q(state__in=[CheckState.PASSED, CheckState.FAILED])
    rows = CheckResult.objects.filter(~judged, execution__in=unsure).order_by()
    for execution, state, count in rows.values_list("execution", "state").annotate(Count("pk")):
        states[execution][state] = count
    return results, dict(states)


def _labels(items: Iterable[_ItemRow]) -> dict[tuple[int, str], list[str]]:
    found: dict[tuple[int, str], list[str]] = defaultdict(list)
    rows = ExecutionLabel.objects.filter(
        item__in=[item.pk for item in items], current=True
    ).exclude(reason="")
    for item, stage, reason in rows.values_list("item", "stage", "reason"):
        found[item, stage].append(reason)
    return found


def _count_checks(case_sets: Collection[int]) -> dict[int, int]:
    contents = CaseSet.objects.filter(pk__in=case_sets).values_list("pk", "content__cases")
    return {pk: sum(len(case["expect"]) for case in cases) for pk, cases in contents}
