"""Run sandbox tests in a worker or directly from a command, and store the results."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from catalog.evidence.services.changes import note_result
from catalog.evidence.services.sandboxes import current_sandbox, is_served
from catalog.evidence.services.shipped import adopt_shipped_quality
from catalog.evidence.services.storage import (
    JUDGED,
    differs,
    keep_quality,
    last_execution,
    store_execution,
    without_unstable,
)
from catalog.execution import cases
from catalog.execution.cases import State, read_case_set, run_case_set
from catalog.execution.quality import measure_quality, repeat
from catalog.execution.sandbox import Availability, Observation, PreparedRun, Sandbox
from catalog.models import CaseRun, CaseSet, Execution, Version
from core import metrics
from core.errors import NotAllowedNow
from core.leased_jobs import UNFINISHED, Canceled, Claim, LostLease, claim, free

logger = logging.getLogger(__name__)

ATTEMPTS = 5  # attempts to request a run while other processes request the same run
QUALITY = CaseRun.Purpose.QUALITY
# No user is waiting for these runs, but they have priority over quality measurements.
BACKGROUND = (CaseRun.Purpose.NIGHTLY, CaseRun.Purpose.ENVIRONMENT)
RENEW_AFTER = 10.0  # seconds; a lease lasts one minute
QUALITY_TRIES = 5  # including attempts in which the worker was killed


class _NotRunNow(Exception):
    """The sandbox failed in a run that worked before."""


class _HeldSandbox:
    """A sandbox that renews the lease of a claimed job between runs."""

    def __init__(self, sandbox: Sandbox, held: Claim[CaseRun]) -> None:
        self.name = sandbox.name
        self._sandbox = sandbox
        self._held = held
        self._renewed = time.monotonic()

    def run(self, prepared: PreparedRun) -> Observation:
        self.renew()
        return self._sandbox.run(prepared)

    def renew(self) -> None:
        """Renew the lease if the last renewal was more than RENEW_AFTER ago. Raises LostLease and Canceled."""
        if time.monotonic() - self._renewed > RENEW_AFTER:
            self._held.note()
            self._renewed = time.monotonic()

    def lend(self) -> Sandbox:
        """Return the same sandbox for a job with a higher priority. Both jobs remain claimed by this worker."""
        return _LentSandbox(self, self._sandbox)


class _LentSandbox:
    """A lent sandbox. A lost or canceled lease of the waiting job is ignored here and handled later."""

    def __init__(self, lender: _HeldSandbox, sandbox: Sandbox) -> None:
        self.name = sandbox.name
        self._lender = lender
        self._sandbox = sandbox

    def run(self, prepared: PreparedRun) -> Observation:
        with suppress(LostLease, Canceled):
            self._lender.renew()
        return self._sandbox.run(prepared)


def run_cases(
    script: str,
    case_set: CaseSet,
    *,
    found: Availability | None = None,
    before_keeping: Callable[[], None] = lambda: None,
) -> Execution:
    """Run the tests with the script in this process's sandbox and store the result.

    Checks with varying results get no verdict. To find these checks, the tests are repeated once per script, suite and
    kind of machine, and again if a verdict changes. A worker then measures the quality of the tests. Without a sandbox,
    no test runs, and the result is *not run* with the reason. `before_keeping` is called after all runs. If it raises,
    no result is stored.
    """
    found = found or current_sandbox()
    parsed = read_case_set(json.dumps(case_set.content), is_kept=True)
    execution = run_case_set(parsed, script, found)
    if found.sandbox is not None and _is_news(case_set, execution):
        execution = repeat(parsed, script, execution, found.sandbox)
    before_keeping()
    stored = store_execution(case_set, execution)
    note_result(stored)
    if stored.lacks_quality and not adopt_shipped_quality(stored):
        request_run(script, case_set, purpose=QUALITY)
    return stored


def request_run(
    script: str, case_set: CaseSet, *, purpose: CaseRun.Purpose, by: User | None = None
) -> CaseRun:
    """Request a run by a worker, or return the unfinished run that already serves this purpose."""
    values = {"script_sha256": Version.hash_of(script), "case_set": case_set}
    is_quality = Q(purpose=QUALITY)
    same = CaseRun.objects.filter(
        is_quality if purpose == QUALITY else ~is_quality, **values, state__in=UNFINISHED
    )
    for _attempt in range(ATTEMPTS):
        there = same.first()
        if there is not None:
            return there
        try:
            with transaction.atomic():
                run = CaseRun.objects.create(script=script, purpose=purpose, by=by, **values)
        except IntegrityError:
            # Another process requested the same run at the same time. That run may already have ended.
            continue
        return run.enqueue()
    raise NotAllowedNow(_("Other users are requesting these tests at the same time. Try again."))


def results_waiting() -> QuerySet[CaseRun]:
    """Return the runs that are waiting for a worker, except quality measurements, which no user waits for."""
    return CaseRun.objects.filter(state=CaseRun.State.WAITING).exclude(purpose=QUALITY)


def carry_out_run(pk: int) -> None:
    """Run the requested job, unless another worker has claimed the job or the job has ended.

    Runs that a user is waiting for have priority over nightly runs and runs for a new kind of machine. All other runs
    have priority over quality measurements. A worker without a sandbox leaves the job to a worker with a sandbox.
    """
    run = CaseRun.objects.filter(pk=pk, state__in=UNFINISHED).only("purpose").first()
    if run is None:
        return
    found = current_sandbox()
    if found.sandbox is None and (is_served() or run.purpose == QUALITY):
        return
    _give_way(run.purpose, found)
    held = claim(CaseRun, pk)
    if held is not None:
        _carry_out(held, found)


def _give_way(purpose: str, found: Availability) -> None:
    """Run all jobs that have priority over this purpose."""
    while (first := _next_before(purpose)) is not None:
        try:
            _carry_out(first, found)
        except Exception:
            # The other job is marked as failed, with the reason. This job continues.
            logger.exception("Sandbox run %s failed", first.pk)


def _next_before(purpose: str) -> Claim[CaseRun] | None:
    """Claim and return the first job with priority over this purpose, or None."""
    if purpose not in (*BACKGROUND, QUALITY):
        return None
    results = free(CaseRun).exclude(purpose=QUALITY)
    first = _claim_first(results.exclude(purpose__in=BACKGROUND))
    if first is None and purpose == QUALITY:
        first = _claim_first(results.filter(purpose__in=BACKGROUND))
    return first


@transaction.atomic
def _claim_first(waiting: QuerySet[CaseRun]) -> Claim[CaseRun] | None:
    locked = waiting.order_by("pk").select_for_update(skip_locked=True)
    first = locked.values_list("pk", flat=True).first()
    return claim(CaseRun, first) if first is not None else None


def _carry_out(held: Claim[CaseRun], found: Availability) -> None:
    run = CaseRun.objects.select_related("case_set").get(pk=held.pk)
    try:
        execution = (_measure if run.purpose == QUALITY else _run)(run, held, found)
    except LostLease:
        logger.warning("Another worker has taken over sandbox run %s", held.pk)
    except _NotRunNow:
        held.give_back()
    except Canceled:
        held.end(CaseRun.State.CANCELLED, script="")
        _count(run, "cancelled")
    except Exception as error:
        held.end(CaseRun.State.FAILED, script="", trouble=str(error)[:2000])
        _count(run, "failed")
        raise
    else:
        held.end(CaseRun.State.DONE, script="", execution=execution)
        _count(run, "done")


def _run(run: CaseRun, held: Claim[CaseRun], found: Availability) -> Execution:
    if found.sandbox is not None:
        sandbox = _HeldSandbox(found.sandbox, held)
        found = Availability(sandbox=sandbox, fingerprint=found.fingerprint)
    return run_cases(run.script, run.case_set, found=found, before_keeping=held.note)


def _measure(run: CaseRun, held: Claim[CaseRun], found: Availability) -> Execution | None:
    """Measure the quality of the tests and add it to this machine's result. Jobs with a higher priority run in between.

    Returns None if no result without quality exists or if the script now behaves differently. The next run of the tests
    then requests the measurement again. Raises _NotRunNow if the sandbox failed and another attempt is due.
    """
    assert found.sandbox is not None and found.fingerprint is not None
    stored = last_execution(run.script_sha256, run.case_set, found.fingerprint.sha256)
    if stored is None or not stored.lacks_quality:
        return None

    sandbox = _HeldSandbox(found.sandbox, held)

    def give_way() -> None:
        _give_way(QUALITY, Availability(sandbox=sandbox.lend(), fingerprint=found.fingerprint))
        sandbox.renew()

    parsed = read_case_set(json.dumps(run.case_set.content), is_kept=True)
    here = Availability(sandbox=sandbox, fingerprint=found.fingerprint)
    execution = run_case_set(parsed, run.script, here)
    if differs(stored, execution):
        if execution.count(State.NOT_RUN) and held.fence < QUALITY_TRIES:
            raise _NotRunNow
        return None
    known = without_unstable(stored, execution)
    quality = measure_quality(parsed, run.script, known, sandbox, before_each=give_way)
    held.note()
    keep_quality(stored, quality)
    return stored


def _count(run: CaseRun, state: str) -> None:
    """Count the run in the metrics. Draft runs are excluded, because their number could reveal flagged items."""
    if run.purpose not in (CaseRun.Purpose.DRAFT, QUALITY):
        metrics.count(metrics.EXECUTIONS, state)


def _is_news(case_set: CaseSet, execution: cases.Execution) -> bool:
    """Return whether the tests must be repeated: if no result is stored, or if a verdict has changed."""
    assert execution.fingerprint is not None
    if execution.count(State.NOT_RUN) or not execution.count(*JUDGED):
        return False
    last = last_execution(execution.script_sha256, case_set, execution.fingerprint.sha256)
    return last is None or differs(last, execution)
