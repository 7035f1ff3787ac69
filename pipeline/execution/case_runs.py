"""Execute a run's cases in the sandbox: request them from its worker, wait up to a limit, and convert the results."""

from __future__ import annotations

import time
from collections.abc import Callable

from catalog import services as catalog
from catalog.execution import cases
from catalog.execution.cases import State
from catalog.models import CaseRun, CaseSet, CheckState, Execution, Version
from core.errors import NotAllowedNow
from pipeline.flow.ports import CheckSeen, Executed
from pipeline.ledger.capacity import RunMustWait
from pipeline.ledger.model_calls import draining

LONGEST_WAIT = 90.0  # total seconds in one passage; missing results are then omitted
LATE_FOR = 120.0  # seconds after a timeout during which no run of this process waits
_LOOK_AGAIN = 0.2  # seconds
_CHECK_LEASE = 2.0  # seconds

_late_until = 0.0  # on the monotonic clock

_LATE = "The sandbox worker is overloaded; results may follow later."


class CaseRuns:
    """The executions that one passage of a run has requested from the sandbox worker.

    After a timeout, later scripts are requested without waiting for their results. For LATE_FOR seconds, this also
    applies to other runs of this process. Otherwise the runs of a campaign would block its threads one after the other.
    """

    def __init__(self, check_lease: Callable[[], None]) -> None:
        self._check_lease = check_lease
        self._rows: dict[str, CaseSet] = {}
        self._asked: dict[tuple[str, str], CaseRun | Execution | str] = {}
        self._left = LONGEST_WAIT

    def keep(self, case_set: cases.CaseSet, *, prompt_version: str, replaces: str) -> CaseSet:
        """Store these cases and return their row. `replaces` is the hash of the case set that they replace."""
        row = catalog.keep_case_set(
            case_set, by=None, prompt_version=prompt_version, replaces=self._rows.get(replaces)
        )
        self._rows[case_set.sha256] = row
        return row

    def withdraw(self, case_set: cases.CaseSet) -> CaseSet:
        """Mark these cases as withdrawn and return their row."""
        row = self._rows[case_set.sha256]
        catalog.withdraw_case_set(row)
        return row

    def start(self, case_set: cases.CaseSet, script: str) -> None:
        """Request an execution, unless the result is known or no worker would run it.

        Results shipped with the release come from another machine and can't be compared with results of other drafts.
        """
        row, sha256 = self._rows[case_set.sha256], Version.hash_of(script)
        known = catalog.last_execution(sha256, row)
        if known is not None and known.state != CheckState.NOT_RUN and not known.is_shipped:
            self._asked[case_set.sha256, script] = known
            return
        try:
            self._asked[case_set.sha256, script] = catalog.sandbox_trouble() or catalog.request_run(
                script, row, purpose=CaseRun.Purpose.DRAFT
            )
        except NotAllowedNow as refused:
            self._asked[case_set.sha256, script] = str(refused)

    def end(self, case_set: cases.CaseSet, script: str) -> Executed:
        """Wait for the result and return it. Raises RunMustWait if this worker is shutting down, and LostLease."""
        asked = self._asked[case_set.sha256, script]
        if isinstance(asked, CaseRun):
            asked = self._wait_for(asked)
        if isinstance(asked, str):
            return Executed(case_set=case_set, reason=asked)
        return read_execution(case_set, asked)

    def _wait_for(self, run: CaseRun) -> Execution | str:
        global _late_until
        checked = begun = time.monotonic()
        deadline = begun + (self._left if begun >= _late_until else 0)
        while True:
            run.refresh_from_db(fields=["state", "execution", "trouble"])
            if not run.is_active:
                break
            now = time.monotonic()
            if now > deadline:
                self._left = 0.0
                if begun >= _late_until:
                    _late_until = now + LATE_FOR
                return _LATE
            if draining.is_set():
                raise RunMustWait("The worker is shutting down.")
            if now - checked > _CHECK_LEASE:
                self._check_lease()
                checked = now
            time.sleep(_LOOK_AGAIN)
        self._left -= time.monotonic() - begun
        if run.execution is None:
            return f"The sandbox worker failed: {run.trouble or 'it was stopped'}."
        return run.execution


def read_execution(case_set: cases.CaseSet, execution: Execution) -> Executed:
    """Convert a stored result to the flow's types."""
    if execution.state == CheckState.NOT_RUN:
        return Executed(case_set=case_set, reason=execution.reason)
    checks = execution.checks.order_by("case_number", "number")
    return Executed(
        case_set=case_set,
        fingerprint=execution.fingerprint_sha256,
        checks=tuple(
            CheckSeen(one.case_number, one.number, one.sentence, State(one.state), one.got)
            for one in checks
        ),
    )
