"""The case sets of a campaign, which are fixed when the campaign opens and when its runs settle."""

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

MOST_SETS = 5  # per statement
_AT_ONCE = 5_000


def results_of(campaign: Campaign) -> Q:
    """Return a condition for results that were produced in this installation or imported into this campaign."""
    came = ImportedResult.objects.filter(campaign=campaign).values("execution")
    return Q(imported=False) | Q(pk__in=came)


def changes_of(campaign: Campaign) -> QuerySet[CaseRevision]:
    """Return reviewers' changes to the campaign's test cases.

    In the review queue, only changes in decided items count.
    """
    found = CaseRevision.objects.filter(item__campaign=campaign)
    return found.filter(item__state=Item.State.CLOSED) if campaign.is_live else found


def fix_cases(campaign: Campaign) -> int:
    """Add the statement's current case sets to each case of a study that has none. Return the number of added sets."""
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
    """Add a settled run's case sets to its studies, and run all of the statement's Drafts against them.

    The first run adds all case sets that its statement has at that time. Later runs add the sets that they wrote, up to
    five sets in total. A corrected set from this run replaces the original, unless a reviewer has changed the original.
    Return the number of requested sandbox runs.
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
        # Lock the campaign, because two arms may settle at the same time.
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
    """Add an imported case set to these cases of the campaign only."""
    _bind(Case.objects.filter(campaign=campaign, pk__in=list(cases)), [case_set])


def drafts_of(cases: Iterable[Case | int]) -> QuerySet[Draft]:
    """Return all Drafts for these cases, except those of erased actions."""
    return Draft.objects.filter(
        run__items__case__in=list(cases), run__action__erased_at=None
    ).order_by("sha256")


def request_runs_for(item: Item, case_sets: Sequence[CaseSet]) -> int:
    """Request runs of every Draft of the item's case against these sets, even if results exist.

    Return the number of runs.
    """
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
