"""Import sandbox evidence from an export: test suites, results, changes to tests, and labels.

Importing the same evidence again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User

from catalog.models import CaseSet, CheckResult, Execution
from catalog.services import hash_statement, keep_case_set
from review.evidence.campaign_cases import drafts_of, fix_case_set
from review.exchange.importing.campaigns import people_of
from review.exchange.importing.importer import Outcome
from review.exchange.importing.item_lookup import Places
from review.exchange.rows.evidence_rows import (
    CaseSetRow,
    CheckRow,
    Evidence,
    ExecutionRow,
    LabelRow,
    RevisionRow,
)
from review.exchange.rows.values import RowProblem
from review.models import Campaign, Case, CaseRevision, ExecutionLabel, ImportedResult
from review.study.first_draft import first_draft_of


class EvidenceRow(NamedTuple):
    """A row of evidence with its line number."""

    line: int
    said: Evidence

    @property
    def name(self) -> str:
        """Return the item's ID or the hash of the test suite, which identify the row in error messages."""
        if isinstance(self.said, (RevisionRow, LabelRow)):
            return self.said.item
        return self.said.case_set if isinstance(self.said, ExecutionRow) else ""


class EvidenceImport:
    """Imports evidence, slice by slice."""

    def __init__(self, campaign: Campaign, *, by: User | None) -> None:
        self._campaign, self._by = campaign, by
        self._cases: dict[str, list[int]] | None = None

    def take(self, rows: Sequence[EvidenceRow], outcome: Outcome) -> None:
        """Import these rows in order and count the results in `outcome`. Call this method in a transaction."""
        said = [row.said for row in rows]
        named = [one for one in said if isinstance(one, (RevisionRow, LabelRow))]
        places = Places(self._campaign, {one.item for one in named}, by=self._by)
        people = people_of([one.person for one in named], by=self._by, is_exact=True)
        for row in rows:
            try:
                is_new = self._keep(row.said, places, people)
            except RowProblem as problem:
                outcome.refuse(row.line, str(problem), external_id=row.name, column=problem.column)
                continue
            outcome.kept += is_new
            outcome.unchanged += not is_new

    def _keep(self, said: Evidence, places: Places, people: dict[str, User]) -> bool:
        if isinstance(said, CaseSetRow):
            return self._keep_cases(said)
        if isinstance(said, ExecutionRow):
            return self._keep_execution(said)
        item = places.find(said.item, said.configuration, is_said=False)
        if not item:
            raise RowProblem("this item is not in the study", column="item")
        if isinstance(said, RevisionRow):
            return _keep_revision(said, item, people[said.person])
        return _keep_label(said, item, people[said.person])

    def _keep_cases(self, said: CaseSetRow) -> bool:
        cases = self._known_cases().get(hash_statement(said.case_set.statement))
        if not cases:
            raise RowProblem("no item in the study has this statement", column="content")
        is_new = not CaseSet.objects.filter(sha256=said.case_set.sha256).exists()
        # Imported tests belong to this campaign, like tests that reviewers wrote. Other campaigns do not use them.
        case_set = keep_case_set(
            said.case_set, by=None, prompt_version=said.prompt_version, is_revision=True
        )
        if not said.is_revision and not self._campaign.is_live:
            fix_case_set(self._campaign, case_set, cases)
        return is_new

    def _keep_execution(self, said: ExecutionRow) -> bool:
        case_set = _find_set(said.case_set, "case_set")
        cases = self._known_cases().get(case_set.statement_sha256, ())
        if not drafts_of(cases).filter(sha256=said.script_sha256).exists():
            raise RowProblem(
                "no item in the study has this script and the statement of these tests",
                column="script_sha256",
            )
        return _keep_execution(said, case_set, self._campaign)

    def _known_cases(self) -> dict[str, list[int]]:
        """Return the primary keys of the campaign's cases by the hash of their statement."""
        if self._cases is None:
            self._cases = {}
            texts = self._campaign.cases.filter(repeats=None).order_by("pk")
            for pk, text in texts.values_list("pk", "action__statement").iterator():
                self._cases.setdefault(hash_statement(text), []).append(pk)
        return self._cases


def _find_set(sha256: str, column: str) -> CaseSet:
    found = CaseSet.objects.filter(sha256=sha256).first()
    if found is None:
        raise RowProblem("no test suite has this hash", column=column)
    return found


def _keep_execution(said: ExecutionRow, case_set: CaseSet, campaign: Campaign) -> bool:
    wanted = [
        (case, number)
        for case, one in enumerate(case_set.content["cases"], 1)
        for number, _check in enumerate(one["expect"], 1)
    ]
    if sorted((check.case, check.number) for check in said.checks) != wanted:
        raise RowProblem("must have one result for each check", column="checks")
    there = Execution.objects.filter(
        script_sha256=said.script_sha256,
        case_set=case_set,
        fingerprint_sha256=said.fingerprint_sha256,
    ).prefetch_related("checks")
    states = {(check.case, check.number): check.state for check in said.checks}
    same = next(
        (
            one
            for one in there
            if {(check.case_number, check.number): check.state for check in one.checks.all()}
            == states
        ),
        None,
    )
    if same is not None and not same.imported:
        return False
    kept = same or _create(said, case_set)
    return ImportedResult.objects.get_or_create(campaign=campaign, execution=kept)[1]


def _create(said: ExecutionRow, case_set: CaseSet) -> Execution:
    def count(states: Callable[[CheckRow], bool]) -> int:
        return sum(states(check) for check in said.checks)

    passed = count(lambda check: check.state == "passed")
    failed = count(lambda check: check.state == "failed")
    judged = {check.case for check in said.checks if check.state in ("passed", "failed")}
    stored = Execution.objects.create(
        script_sha256=said.script_sha256,
        case_set=case_set,
        fingerprint=said.fingerprint,
        fingerprint_sha256=said.fingerprint_sha256,
        state=said.state,
        reason=said.why_not_run,
        passed=passed,
        failed=failed,
        others=len(said.checks) - passed - failed,
        worlds=len(judged),
        small_errors=said.small_errors,
        noticed=said.noticed,
        document=said.document,
        seconds=said.seconds,
        first_at=said.first_at,
        last_at=said.last_at,
        times=said.times,
        imported=True,
    )
    CheckResult.objects.bulk_create(
        CheckResult(
            execution=stored,
            case_number=check.case,
            number=check.number,
            case_title=check.title,
            sentence=check.sentence,
            state=check.state,
            got=check.got,
        )
        for check in said.checks
    )
    return stored


def _keep_revision(said: RevisionRow, item: int, by: User) -> bool:
    root = _find_set(said.root, "root")
    case = Case.objects.get(items=item)
    if not case.case_sets.filter(case_set=root).exists():
        raise RowProblem("the item does not use these tests", column="root")

    def made(sha256: str, column: str) -> CaseSet | None:
        if not sha256:
            return None
        found = _find_set(sha256, column)
        if found.statement_sha256 != root.statement_sha256:
            raise RowProblem("these tests belong to another statement", column=column)
        return found

    values = {
        "item_id": item,
        "root": root,
        "former": made(said.former, "former"),
        "case_set": made(said.case_set, "case_set"),
        "merged": made(said.merged, "merged"),
        "kind": said.kind,
        "by": by,
        "at": said.at,
    }
    if CaseRevision.objects.filter(**values).exists():
        return False
    CaseRevision.objects.create(**values, what=said.what, reason=said.reason, imported=True)
    return True


def _keep_label(said: LabelRow, item: int, by: User) -> bool:
    mine = ExecutionLabel.objects.filter(item=item, by=by, stage=said.stage)
    if mine.filter(at=said.at).exists():
        return False
    is_current = said.current and not mine.filter(current=True, at__gt=said.at).exists()
    if is_current:
        mine.filter(current=True).update(current=False)
    label = ExecutionLabel(
        item_id=item,
        stage=said.stage,
        reason=said.reason,
        by=by,
        at=said.at,
        current=is_current,
        imported=True,
    )
    run = label.item.run
    if run is not None and said.stage == ExecutionLabel.Stage.SCRIPT:
        label.draft = first_draft_of(list(run.drafts.order_by("number")))
    label.save()
    return True
