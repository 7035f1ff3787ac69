"""Summarize the test results of a script for pages."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from catalog.evidence.services.sandboxes import last_report
from catalog.evidence.services.storage import newest_results
from catalog.evidence.services.world_trees import TreeRow, world_tree
from catalog.execution import cases
from catalog.execution.cases.dates import fill_dates
from catalog.models import (
    CaseRun,
    CaseSet,
    CheckResult,
    CheckState,
    Entry,
    EntryCases,
    Execution,
    SandboxReport,
    Version,
)

# The names that pages show for kinds of tests. Other kinds are shown as stored.
_KINDS = {"usual": gettext_lazy("typical"), "border": gettext_lazy("edge case")}


@dataclass(frozen=True)
class CaseRow:
    """A sandbox test with its checks and observations."""

    title: str
    about: str
    kind: str
    state: str
    checks: Sequence[CheckResult]
    tree: Sequence[TreeRow]
    seen: Mapping[str, object]


@dataclass(frozen=True)
class SetRow:
    """A test suite of an entry, with the last result of the shown version and the run in progress."""

    kept: EntryCases
    execution: Execution | None
    under_way: CaseRun | None
    is_being_measured: bool = False  # whether a quality measurement is pending
    cases: Sequence[CaseRow] = ()

    @property
    def case_set(self) -> CaseSet:
        return self.kept.case_set


@dataclass(frozen=True)
class Evidence:
    """All sandbox tests of an entry, with the results of one version's script."""

    sets: Sequence[SetRow]
    sandbox: SandboxReport | None
    executions: Sequence[Execution] = field(default=())

    @property
    def passed(self) -> int:
        return sum(one.passed for one in self.executions)

    @property
    def judged(self) -> int:
        return sum(one.judged for one in self.executions)

    @property
    def failed(self) -> int:
        return self.judged - self.passed

    @property
    def others(self) -> int:
        return sum(one.others for one in self.executions)

    @property
    def worlds(self) -> int:
        return sum(one.worlds for one in self.executions)

    @property
    def small_errors(self) -> int:
        return sum(one.small_errors or 0 for one in self.executions)

    @property
    def noticed(self) -> int:
        return sum(one.noticed or 0 for one in self.executions)

    @property
    def at(self) -> datetime | None:
        """Return the time of the oldest result."""
        return min((one.last_at for one in self.executions), default=None)

    @property
    def environment(self) -> str:
        """Return the main tools with their versions, such as `bash 5.2, coreutils 9.1`, from a shipped result if
        possible.
        """
        shipped_first = sorted(self.executions, key=lambda one: not one.is_shipped)
        return shipped_first[0].environment if shipped_first else ""

    @property
    def is_shipped(self) -> bool:
        """Return whether any result was measured before the release."""
        return any(one.is_shipped for one in self.executions)

    @property
    def is_under_way(self) -> bool:
        return any(one.under_way is not None for one in self.sets)

    @property
    def is_followed(self) -> bool:
        """Return whether a new result is expected soon, because a run is unfinished and a worker is active."""
        soon = self.is_under_way or any(one.is_being_measured for one in self.sets)
        return soon and self.sandbox is not None and self.sandbox.is_recent

    @property
    def digest(self) -> str:
        """Return a digest that changes when the page would change."""
        rows = [
            (
                one.kept.pk,
                one.execution
                and (one.execution.pk, one.execution.times, one.execution.lacks_quality),
                one.under_way and one.under_way.pk,
                one.is_being_measured,
            )
            for one in self.sets
        ]
        sandbox = self.sandbox and (self.sandbox.pk, self.sandbox.is_recent)
        return hashlib.sha256(repr((rows, sandbox)).encode()).hexdigest()[:16]


def evidence_of(entry: Entry, version: Version, *, with_checks: bool = False) -> Evidence:
    """Return the tests of the entry with the last results of this version, in at most five queries."""
    kept = list(
        EntryCases.objects.filter(entry=entry, removed_at=None)
        .select_related("case_set", "added_by")
        .order_by("pk")
    )
    sets = [row.case_set_id for row in kept]
    if not sets:
        return Evidence(sets=(), sandbox=None)
    results = Execution.objects.filter(
        script_sha256=version.sha256, case_set__in=sets, imported=False
    )
    results = results.prefetch_related("checks") if with_checks else results.defer("document")
    by_set = {one.case_set_id: one for one in newest_results(results, "case_set_id")}
    runs = CaseRun.objects.filter(
        script_sha256=version.sha256, case_set__in=sets, state__in=["waiting", "running"]
    )
    under_way: dict[int, CaseRun] = {}
    measured: set[int] = set()
    for run in runs.defer("script"):
        if run.purpose == CaseRun.Purpose.QUALITY:
            measured.add(run.case_set_id)
        else:
            under_way[run.case_set_id] = run
    rows = [
        SetRow(
            kept=row,
            execution=by_set.get(row.case_set_id),
            under_way=under_way.get(row.case_set_id),
            is_being_measured=row.case_set_id in measured,
            cases=case_rows(row.case_set, by_set.get(row.case_set_id)) if with_checks else (),
        )
        for row in kept
    ]
    return Evidence(
        sets=rows,
        sandbox=last_report(),
        executions=[one for one in by_set.values() if one.state != CheckState.NOT_RUN],
    )


def case_rows(case_set: CaseSet, execution: Execution | None) -> list[CaseRow]:
    """Return the tests of a suite in order, with their checks. Pass None as `execution` if the suite has not
    run yet.
    """
    checks: dict[int, list[CheckResult]] = {}
    worlds: Sequence[Mapping[str, object]] = ()
    # Fill in dates for the day of the run, because the result contains these dates.
    moment = execution.first_at.timestamp() if execution is not None else time.time()
    filled: Any = fill_dates(case_set.content["cases"], moment)
    if execution is not None:
        for check in execution.checks.all():
            checks.setdefault(check.case_number, []).append(check)
        worlds = execution.document.get("worlds", ())
    else:
        for number, parsed in enumerate(_read(case_set).cases, 1):
            checks[number] = [
                CheckResult(sentence=check.sentence(), state="")
                for check in parsed.on_day_of(moment).expect
            ]
    rows = []
    for number, case in enumerate(filled, 1):
        world = worlds[number - 1] if number <= len(worlds) else {}
        seen = world.get("seen")
        what: Mapping[str, object] = seen if isinstance(seen, Mapping) else {}
        rows.append(
            CaseRow(
                title=case["title"],
                about=case["about"],
                kind=str(_KINDS.get(case["kind"], case["kind"])),
                state=str(world.get("state", "")),
                checks=checks.get(number, ()),
                tree=world_tree(case.get("world", {}), what),
                seen=what,
            )
        )
    return rows


def _read(case_set: CaseSet) -> cases.CaseSet:
    return cases.read_case_set(json.dumps(case_set.content), is_kept=True)
