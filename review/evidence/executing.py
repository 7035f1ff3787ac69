"""Run every script of a campaign against its statement's test cases, either directly or through the sandbox worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from catalog.models import CaseRun, CaseSet, CheckState, Execution
from catalog.services import current_sandbox, request_run, run_cases
from review.evidence.campaign_cases import drafts_of, fix_cases
from review.evidence.cases_in_force import sets_of_all
from review.models import Campaign

WAITING = "waiting"
KNOWN = "known"


class ToRun(NamedTuple):
    """A script and the case set to run it against."""

    script: str
    sha256: str
    case_set: CaseSet


class Ran(NamedTuple):
    """The result of running a script. `state` is a CheckState, `waiting` (for the worker), or `known`."""

    work: ToRun
    state: str
    passed: int = 0
    failed: int = 0
    others: int = 0


def list_work(campaign: Campaign) -> Iterator[ToRun]:
    """Yield each script in the campaign with each case set that counts for its statement, without duplicates."""
    fix_cases(campaign)
    seen: set[tuple[str, int]] = set()
    cases = (
        campaign.cases.filter(action__erased_at=None)
        .exclude(case_sets=None)
        .prefetch_related("case_sets__case_set")
        .order_by("pk")
    )
    for case in cases.distinct().iterator(chunk_size=500):
        roots = [one.case_set for one in case.case_sets.all()]
        sets = [one.case_set for one in sets_of_all(campaign, roots) if one.case_set is not None]
        for script, sha256 in drafts_of([case]).distinct().values_list("script", "sha256"):
            for case_set in sets:
                if (sha256, case_set.pk) not in seen:
                    seen.add((sha256, case_set.pk))
                    yield ToRun(script, sha256, case_set)


def execute_campaign(campaign: Campaign, *, by_worker: bool, again: bool) -> Iterator[Ran]:
    """Run all scripts that have no result from this sandbox environment, or every script if `again`.

    Yield the results.
    """
    found = current_sandbox()
    fingerprint = found.fingerprint.sha256 if found.fingerprint else ""
    for work in list_work(campaign):
        if not again and _is_known(work, fingerprint):
            yield Ran(work, KNOWN)
        elif by_worker:
            request_run(work.script, work.case_set, purpose=CaseRun.Purpose.ASKED)
            yield Ran(work, WAITING)
        else:
            done = run_cases(work.script, work.case_set, found=found)
            yield Ran(work, done.state, done.passed, done.failed, done.others)


def _is_known(work: ToRun, fingerprint: str) -> bool:
    return (
        bool(fingerprint)
        and Execution.objects.filter(
            script_sha256=work.sha256,
            case_set=work.case_set,
            fingerprint_sha256=fingerprint,
            imported=False,
        )
        .exclude(state=CheckState.NOT_RUN)
        .exists()
    )


def count_states(results: list[Ran]) -> dict[str, int]:
    """Return the number of results by state."""
    return dict(sorted(Counter(str(one.state) for one in results).items()))
