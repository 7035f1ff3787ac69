"""Cases of a statement that is no entry's: what drafts of scripts for it did in them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from catalog.evidence.services.running import request_run
from catalog.evidence.services.storage import hash_statement, keep_case_set, newest_results
from catalog.evidence.services.summaries import CaseRow, case_rows
from catalog.execution.cases import read_case_set
from catalog.models import CaseRun, CaseSet, Execution, Version

MOST_SETS = 5  # of a statement, the newest


@dataclass(frozen=True)
class StatementEvidence:
    """What one script did in one case set of its statement."""

    execution: Execution
    cases: Sequence[CaseRow]

    @property
    def case_set(self) -> CaseSet:
        return self.execution.case_set

    @property
    def quality(self) -> object:
        return self.execution.document.get("quality")

    @property
    def sentence(self) -> str:
        return str(self.execution.document.get("sentence", ""))


def case_sets_for(statement: str) -> QuerySet[CaseSet]:
    """The case sets written for this statement that nobody has removed."""
    stands = Q(entries=None) | Q(entries__removed_at=None)
    found = CaseSet.objects.filter(stands, statement_sha256=hash_statement(statement))
    return found.distinct()[:MOST_SETS]


def keep_cases(text: str, *, by: User | None = None) -> CaseSet:
    """Keep a case set for its statement, whoever's script is to be run in it. Raises CaseRefused."""
    return keep_case_set(read_case_set(text), by=by)


def request_draft_runs(statement: str, scripts: Collection[str]) -> int:
    """Have scripts for a statement run in its cases; how many runs that are. None where it has no cases."""
    runs = [
        request_run(script, case_set, purpose=CaseRun.Purpose.DRAFT)
        for case_set in case_sets_for(statement)
        for script in scripts
    ]
    return len(runs)


def evidence_for(statement: str, sha256s: Collection[str]) -> dict[str, list[StatementEvidence]]:
    """By the hash of the script, what it did in the cases of the statement; two queries, one where there is none."""
    found = newest_results(
        Execution.objects.filter(
            script_sha256__in=sha256s, case_set__in=case_sets_for(statement).values("pk")
        )
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
    """End the runs of these scripts and delete what they did, but for those that are a version of an entry."""
    kept = Version.objects.filter(sha256__in=sha256s).values_list("sha256", flat=True)
    gone = set(sha256s).difference(kept)
    unfinished = CaseRun.objects.filter(script_sha256__in=gone, state__in=["waiting", "running"])
    unfinished.update(
        state=CaseRun.State.CANCELLED, script="", ended_at=Now(), owner="", lease_until=None
    )
    Execution.objects.filter(script_sha256__in=gone).delete()
