"""Sandbox tests for requests without an entry, and the results of their drafts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from catalog import hooks
from catalog.evidence.services.running import request_run
from catalog.evidence.services.sandboxes import sandbox_trouble
from catalog.evidence.services.storage import hash_statement, newest_results
from catalog.evidence.services.summaries import CaseRow, case_rows
from catalog.models import CaseRun, CaseSet, CheckState, Execution, Version
from catalog.models.evidence import ORIGIN

MOST_SETS = 5  # per request text, newest first
LATELY = timedelta(hours=1)


@dataclass(frozen=True)
class StatementEvidence:
    """The results of one script for one test suite of its request."""

    execution: Execution
    cases: Sequence[CaseRow]

    @property
    def case_set(self) -> CaseSet:
        return self.execution.case_set

    @property
    def sentence(self) -> str:
        return str(self.execution.document.get("sentence", ""))


def case_sets_for(statement: str) -> QuerySet[CaseSet]:
    """Return the test suites of this request text that were not removed or replaced."""
    return _in_force().filter(statement_sha256=hash_statement(statement)).distinct()[:MOST_SETS]


def case_sets_of_statements(hashes: Collection[str]) -> list[CaseSet]:
    """Return the current test suites of many request texts, by their hashes, newest first."""
    kept: dict[str, list[CaseSet]] = {}
    for case_set in _in_force().filter(statement_sha256__in=hashes).distinct():
        of_statement = kept.setdefault(case_set.statement_sha256, [])
        if len(of_statement) < MOST_SETS:
            of_statement.append(case_set)
    return [case_set for of_statement in kept.values() for case_set in of_statement]


def _in_force() -> QuerySet[CaseSet]:
    """Return the current suites that apply everywhere. Suites revised in a review apply only in the review's
    campaign.
    """
    is_kept = Q(entries=None) | Q(entries__removed_at=None)
    return CaseSet.objects.filter(is_kept, replaced_by=None, withdrawn_at=None, is_revision=False)


def request_draft_runs(statement: str, scripts: Collection[str]) -> int:
    """Request runs of the scripts with the test suites of their request. Return the number of runs.

    If no sandbox worker is active, no runs are requested, because they would wait forever. Tests with results from the
    last hour do not run again, because the run that created the draft may have produced these results.
    """
    by_hash = {Version.hash_of(script): script for script in scripts}
    case_sets = list(case_sets_for(statement))
    if not case_sets or sandbox_trouble():
        return 0
    return request_missing_runs(by_hash, case_sets, since=timezone.now() - LATELY)


def request_missing_runs(
    scripts: Mapping[str, str], case_sets: Sequence[CaseSet], *, since: datetime | None = None
) -> int:
    """Request runs of drafts with the suites for which they have no local result, or none since `since`.

    `scripts` maps hashes to scripts. Shipped results are treated as local results. Returns the number of requested
    runs.
    """
    ran = Execution.objects.filter(
        script_sha256__in=scripts, case_set__in=case_sets, imported=False
    ).exclude(state=CheckState.NOT_RUN)
    if since is not None:
        ran = ran.filter(Q(last_at__gt=since) | Q(fingerprint__has_key=ORIGIN))
    known = set(ran.values_list("script_sha256", "case_set"))
    runs = [
        request_run(script, case_set, purpose=CaseRun.Purpose.DRAFT)
        for case_set in case_sets
        for sha256, script in scripts.items()
        if (sha256, case_set.pk) not in known
    ]
    return len(runs)


def evidence_for(statement: str, sha256s: Collection[str]) -> dict[str, list[StatementEvidence]]:
    """Return the results for the request's test suites by script hash, in at most two queries."""
    return _evidence(
        Execution.objects.filter(case_set__in=case_sets_for(statement).values("pk")), sha256s
    )


def evidence_in(
    case_sets: Collection[int], sha256s: Collection[str], *, among: Q | None = None
) -> dict[str, list[StatementEvidence]]:
    """Return the results for these test suites by script hash.

    `among` filters the results. By default, only results of this installation are returned.
    """
    counts = Q(imported=False) if among is None else among
    return _evidence(Execution.objects.filter(counts, case_set__in=case_sets), sha256s)


def _evidence(
    executions: QuerySet[Execution], sha256s: Collection[str]
) -> dict[str, list[StatementEvidence]]:
    found = newest_results(
        executions.filter(script_sha256__in=sha256s)
        .select_related("case_set")
        .prefetch_related("checks"),
        "script_sha256",
        "case_set_id",
    )
    evidence: dict[str, list[StatementEvidence]] = {}
    for execution in found:
        rows = case_rows(execution.case_set, execution)
        evidence.setdefault(execution.script_sha256, []).append(StatementEvidence(execution, rows))
    return evidence


@transaction.atomic
def forget_scripts(sha256s: Collection[str]) -> None:
    """Cancel the runs and delete the results of these scripts, except for scripts that belong to an entry's version."""
    kept = Version.objects.filter(sha256__in=sha256s).values_list("sha256", flat=True)
    gone = set(sha256s).difference(kept)
    unfinished = CaseRun.objects.filter(script_sha256__in=gone, state__in=["waiting", "running"])
    unfinished.update(
        state=CaseRun.State.CANCELLED, script="", ended_at=Now(), owner="", lease_until=None
    )
    Execution.objects.filter(script_sha256__in=gone).delete()


def all_case_sets(statement: str) -> set[int]:
    """Return the IDs of all suites for this request text, including replaced and revised ones."""
    found = CaseSet.objects.filter(statement_sha256=hash_statement(statement))
    return set(found.values_list("pk", flat=True))


@transaction.atomic
def forget_case_sets(case_sets: Collection[int], *, keeping: Collection[int] = ()) -> None:
    """Delete these test suites, which contain the request text, and their results.

    Suites that reviewers derived from these suites are deleted, too. Suites that belong or belonged to an entry are
    kept. Suites in `keeping` and suites derived from these are kept, too.
    """
    gone = {*case_sets, *hooks.changed_from(case_sets)}
    gone -= {*keeping, *hooks.changed_from(keeping)}
    keys = list(CaseSet.objects.filter(pk__in=gone, entries=None).values_list("pk", flat=True))
    CaseRun.objects.filter(case_set__in=keys).delete()
    Execution.objects.filter(case_set__in=keys).delete()
    CaseSet.objects.filter(pk__in=keys).delete()
