"""The case sets of a campaign: fixed when its runs settle and when it opens; what others do later changes nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Q, QuerySet

from catalog.models import CaseRun, CaseSet
from catalog.services import (
    case_sets_for,
    case_sets_of_statements,
    hash_statement,
    request_missing_runs,
    request_run,
)
from pipeline.models import Draft, WrittenCases
from review.evidence.cases_in_force import sets_of_all
from review.models import (
    Campaign,
    CampaignCaseSet,
    Case,
    CaseRevision,
    ImportedResult,
    Item,
)

MOST_SETS = 5  # of a statement
_AT_ONCE = 5_000


def results_of(campaign: Campaign) -> Q:
    """For a query of results: what was run here, and what came with a file of this campaign."""
    came = ImportedResult.objects.filter(campaign=campaign).values("execution")
    return Q(imported=False) | Q(pk__in=came)


def changes_of(campaign: Campaign) -> QuerySet[CaseRevision]:
    """What reviewers changed in its cases; in the live queue only where the item was decided on."""
    found = CaseRevision.objects.filter(item__campaign=campaign)
    return found.filter(item__state=Item.State.CLOSED) if campaign.is_live else found


def fix_cases(campaign: Campaign) -> int:
    """Give each case of a study without cases those of its statement, as they are now; how many case sets that is."""
    if campaign.is_live:
        return 0
    cases = (
        campaign.cases.filter(case_sets=None, repeats=None, action__erased_at=None)
        .select_related("action")
        .only("action__statement")
        .order_by("pk")
    )
    made, last = 0, 0
    while found := list(cases.filter(pk__gt=last)[:_AT_ONCE]):
        by_statement: dict[str, list[Case]] = defaultdict(list)
        for case in found:
            by_statement[hash_statement(case.action.statement)].append(case)
        for case_set in case_sets_of_statements(by_statement):
            made += _bind(by_statement[case_set.statement_sha256], [case_set])
        last = found[-1].pk
    return made


@transaction.atomic
def fix_cases_of_run(run_id: int) -> int:
    """A run has settled: its cases count in its studies, and all of their drafts for the statement are run in them.

    The first run brings what its statement has by then, later ones bring what they wrote themselves, at most five in
    all. What the run's author has mended takes the place of what it was made of, unless a reviewer has changed that.
    How many runs of cases were asked for.
    """
    of_studies = Case.objects.filter(
        items__run=run_id,
        campaign__kind=Campaign.Kind.STUDY,
        action__erased_at=None,
        repeats=None,
    ).exclude(campaign__state=Campaign.State.CLOSED)
    asked = 0
    for case in (
        of_studies.select_related("action", "campaign").order_by("campaign", "pk").distinct()
    ):
        news = list(case_sets_for(case.action.statement))
        if not news and not case.case_sets.exists():
            continue
        # One at a time: two arms may settle at once.
        Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=case.campaign_id)
        same = list(
            Case.objects.filter(
                campaign=case.campaign_id,
                repeats=None,
                action__statement_sha256=case.action.statement_sha256,
            )
        )
        written = WrittenCases.objects.filter(run=run_id).values("case_set")
        mended = CampaignCaseSet.objects.filter(
            case__in=same, case_set__replaced_by__in=written
        ).exclude(
            case_set__in=CaseRevision.objects.filter(item__campaign=case.campaign_id).values("root")
        )
        mended.delete()
        bound = list(CaseSet.objects.filter(counted_for__case__in=same).distinct().order_by("pk"))
        if bound:
            own = set(WrittenCases.objects.filter(run=run_id).values_list("case_set", flat=True))
            news_own = [one for one in news if one.pk in own and one not in bound]
            bound += news_own[: max(0, MOST_SETS - len(bound))]
        else:
            bound = news
        if bound:
            _bind(same, bound)
            in_force = sets_of_all(case.campaign, bound)
            sets = [one.case_set for one in in_force if one.case_set is not None]
            scripts = dict(drafts_of(same).values_list("sha256", "script"))
            asked += request_missing_runs(scripts, sets)
    return asked


def fix_case_set(campaign: Campaign, case_set: CaseSet, cases: Iterable[int]) -> None:
    """A case set came with a file: it counts for these cases of the campaign, and nowhere else."""
    _bind(Case.objects.filter(campaign=campaign, pk__in=list(cases)), [case_set])


def drafts_of(cases: Iterable[Case | int]) -> QuerySet[Draft]:
    """Every draft of the items of these cases."""
    return Draft.objects.filter(
        run__items__case__in=list(cases), run__action__erased_at=None
    ).order_by("sha256")


def request_runs_for(item: Item, case_sets: Sequence[CaseSet]) -> int:
    """Have every draft of the item's case run in these sets, again where it was; how many runs were asked for."""
    scripts = dict(drafts_of([item.case]).values_list("sha256", "script"))
    runs = [
        request_run(script, case_set, purpose=CaseRun.Purpose.CASES)
        for case_set in case_sets
        for script in scripts.values()
    ]
    return len(runs)


def _bind(cases: Iterable[Case], case_sets: Sequence[CaseSet]) -> int:
    made = CampaignCaseSet.objects.bulk_create(
        [CampaignCaseSet(case=case, case_set=one) for case in cases for one in case_sets],
        ignore_conflicts=True,
    )
    return len(made)
