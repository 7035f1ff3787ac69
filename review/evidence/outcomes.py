"""What the scripts of a campaign's items did in the cases that count, for its report."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Count, Exists, F, OuterRef, Q

from catalog.models import CaseSet, CheckResult, CheckState, Execution
from catalog.services import case_sets_of_statements, hash_statement, newest_results
from pipeline.models import Draft
from pipeline.types import Arm, DraftKind
from review.evidence.campaign_cases import results_of
from review.evidence.cases_in_force import sets_of_all
from review.models import Campaign, CampaignCaseSet, ExecutionLabel, Item, Score
from review.study import ItemPattern
from review.study.execution import TO_RUN, Executed, standing_of
from review.study.first_draft import first_draft_of
from review.study.types import Origin, Standing

STAGES = ("script", "refined")
_AT_ONCE = 5_000

_Standings = dict[str, Standing]  # by stage


@dataclass(frozen=True)
class ExecutedStage:
    """A stage of an item whose statement has cases, with what came of them."""

    item: int
    configuration: str
    stage: str
    result: Executed
    is_imported: bool = False  # a result of it came with a file


def read_outcomes(campaign: Campaign) -> list[ExecutedStage]:
    """The scripts of every real item of which any was run in the cases of its case; few queries a slice.

    In the live queue those that were decided on: what waits for a reviewer shows nothing yet.
    """
    if campaign.is_live:
        return [one for slice_ in _live_slices(campaign) for one in _read_live(campaign, slice_)]
    # Most campaigns have no cases: that is known at once.
    if not CampaignCaseSet.objects.filter(case__campaign=campaign).exists():
        return []
    return [one for slice_ in _slices(campaign) for one in _read(campaign, slice_)]


def _slices(campaign: Campaign) -> Iterator[list[Item]]:
    bound = CampaignCaseSet.objects.filter(case=OuterRef("case"))
    items = (
        campaign.items.filter(Exists(bound), case__purpose="real", case__action__erased_at=None)
        .exclude(state=Item.State.WITHDRAWN)
        .exclude(pattern="")
        .select_related("configuration", "case__action")
        .only(
            "campaign", "pattern", "run", "case", "configuration__name", "case__action__statement"
        )
        .order_by("pk")
    )
    last = 0
    while found := list(items.filter(pk__gt=last)[:_AT_ONCE]):
        yield found
        last = found[-1].pk


def _read(campaign: Campaign, items: Sequence[Item]) -> Iterator[ExecutedStage]:
    """Of a study, whose counts keep with each item where its stages stand."""
    standings: dict[int, _Standings] = {}
    for item in items:
        pattern = ItemPattern.from_text(item.pattern.split('"', 2)[1])
        if pattern.origin is not Origin.RETRIEVED:
            refined = pattern.script if pattern.is_same else pattern.refined
            standings[item.pk] = {"script": pattern.script, "refined": refined}
    return _execute(campaign, items, _roots_of(items), standings)


def _live_slices(campaign: Campaign) -> Iterator[list[Item]]:
    if not CaseSet.objects.exists():
        return
    items = (
        campaign.items.filter(state=Item.State.CLOSED, case__action__erased_at=None)
        .exclude(run__drafts__kind=DraftKind.RETRIEVED)
        .select_related("configuration", "case__action")
        .only("campaign", "run", "case", "configuration__name", "case__action__statement")
        .order_by("pk")
    )
    last = 0
    while found := list(items.filter(pk__gt=last)[:_AT_ONCE]):
        yield found
        last = found[-1].pk


def _read_live(campaign: Campaign, items: Sequence[Item]) -> Iterator[ExecutedStage]:
    """Of the live queue: the cases are the statements', and who scored an item says what it is worth."""
    hashes = {item.pk: hash_statement(item.case.action.statement) for item in items}
    written: dict[str, list[CaseSet]] = defaultdict(list)
    for one in case_sets_of_statements(set(hashes.values())):
        written[one.statement_sha256].append(one)
    with_cases = [item for item in items if hashes[item.pk] in written]
    given: dict[tuple[int, str], set[int]] = defaultdict(set)
    scores = Score.objects.filter(item__in=with_cases, current=True, arm=Arm.MODEL)
    for item_key, stage, value in scores.values_list("item", "stage", "value"):
        given[item_key, stage].add(value)
    return _execute(
        campaign,
        with_cases,
        {item.case_id: written[hashes[item.pk]] for item in with_cases},
        {
            item.pk: {stage: standing_of(given[item.pk, stage]) for stage in STAGES}
            for item in with_cases
        },
    )


def _execute(
    campaign: Campaign,
    items: Sequence[Item],
    roots: Mapping[int, Sequence[CaseSet]],
    standings: Mapping[int, _Standings],
) -> Iterator[ExecutedStage]:
    """By case, the sets that count as they were written; by item, where its stages stand with the experts."""
    scripts = _scripts_of(item.run_id for item in items if item.run_id)
    known_roots = {one.pk: one for found in roots.values() for one in found}
    in_force = {
        one.root.pk: one.case_set for one in sets_of_all(campaign, list(known_roots.values()))
    }
    results, others = _results(
        campaign,
        {sha256 for found in scripts.values() for sha256 in found.values()},
        # As they were written, too: there they may have been run.
        {*known_roots, *(one.pk for one in in_force.values() if one is not None)},
    )
    labels = _labels(items)
    for item in items:
        own, written = scripts[item.run_id or 0], roots[item.case_id]
        counted = [in_force[one.pk] for one in written]
        # Two roots may have come to the same.
        sets = {one.pk: one for one in counted if one is not None}
        was_run = any(
            (sha256, pk) in results
            for sha256 in own.values()
            for pk in {*sets, *(one.pk for one in written)}
        )
        if item.pk not in standings or not (sets and was_run):
            continue
        for stage, sha256 in own.items():
            passed = failed = 0
            beside: Counter[str] = Counter()
            is_imported = False
            for case_set in sets.values():
                found = results.get((sha256, case_set.pk))
                if found is None:
                    beside[TO_RUN] += _count_checks(case_set)
                    continue
                is_imported |= found.imported
                passed, failed = passed + found.passed, failed + found.failed
                beside.update(others.get(found.pk, {}))
            yield ExecutedStage(
                item=item.pk,
                configuration=item.configuration.name,
                stage=stage,
                is_imported=is_imported,
                result=Executed(
                    statement=hash_statement(item.case.action.statement),
                    expert=standings[item.pk][stage],
                    passed=passed,
                    failed=failed,
                    others=beside,
                    labels=labels[item.pk, stage],
                ),
            )


def _scripts_of(runs: Iterable[int]) -> dict[int, dict[str, str]]:
    """By run: the hash of the script of each stage."""
    drafts = (
        Draft.objects.filter(run__in=list(runs))
        .only("run_id", "number", "kind", "sha256", "feedback_id", "refinement_id")
        .annotate(on=F("feedback__draft_id"), said=F("feedback__arm"))
        .order_by("run_id", "number")
    )
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for run, group in groupby(drafts, key=lambda one: one.run_id):
        of_run = list(group)
        first = first_draft_of(of_run)
        if first is None:
            continue
        found[run]["script"] = first.sha256
        refined = next(
            (
                one
                for one in of_run
                if one.kind == DraftKind.REFINED and one.on == first.pk and one.said == Arm.MODEL
            ),
            None,
        )
        if refined is not None:
            found[run]["refined"] = refined.sha256
    return found


def _roots_of(items: Sequence[Item]) -> dict[int, list[CaseSet]]:
    """By case, the sets fixed for it, as they were written."""
    rows = CampaignCaseSet.objects.filter(case__in={item.case_id for item in items})
    found: dict[int, list[CaseSet]] = defaultdict(list)
    for row in rows.select_related("case_set").order_by("case_set"):
        found[row.case_id].append(row.case_set)
    return found


def _results(
    campaign: Campaign, scripts: set[str], sets: set[int]
) -> tuple[dict[tuple[str, int], Execution], dict[int, Mapping[str, int]]]:
    """The newest result of each script in each set; and of each result the checks without a verdict, by state."""
    newest = newest_results(
        Execution.objects.filter(
            results_of(campaign), script_sha256__in=scripts, case_set__in=sets
        ).only("script_sha256", "case_set_id", "passed", "failed", "others", "imported"),
        "script_sha256",
        "case_set_id",
    )
    results = {(one.script_sha256, one.case_set_id): one for one in newest}
    unsure = [one.pk for one in results.values() if one.others]
    states: dict[int, dict[str, int]] = defaultdict(dict)
    judged = Q(state__in=[CheckState.PASSED, CheckState.FAILED])
    rows = CheckResult.objects.filter(~judged, execution__in=unsure).order_by()
    for execution, state, count in rows.values_list("execution", "state").annotate(Count("pk")):
        states[execution][state] = count
    return results, dict(states)


def _labels(items: Sequence[Item]) -> dict[tuple[int, str], list[str]]:
    found: dict[tuple[int, str], list[str]] = defaultdict(list)
    rows = ExecutionLabel.objects.filter(item__in=items, current=True).exclude(reason="")
    for item, stage, reason in rows.values_list("item", "stage", "reason"):
        found[item, stage].append(reason)
    return found


def _count_checks(case_set: CaseSet) -> int:
    return sum(len(case["expect"]) for case in case_set.content["cases"])
