"""Cases are run by a worker of the sandbox, or here and now by a command; the result is kept either way."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from catalog.evidence.services.changes import note_result
from catalog.evidence.services.sandboxes import current_sandbox, is_served
from catalog.evidence.services.storage import differs, last_execution, store_execution
from catalog.execution import cases
from catalog.execution.cases import State, read_case_set, run_case_set
from catalog.execution.quality import Quality, measure_quality
from catalog.execution.sandbox import Availability, Observation, PreparedRun, Sandbox
from catalog.models import CaseRun, CaseSet, Execution, Version
from core import metrics
from core.errors import NotAllowedNow
from core.leased_jobs import Cancelled, Claim, LostLease, claim

logger = logging.getLogger(__name__)

ATTEMPTS = 5  # at asking for a run while others ask for the same one
# Nobody waits for these.
BACKGROUND = (CaseRun.Purpose.NIGHTLY, CaseRun.Purpose.ENVIRONMENT)
RENEW_AFTER = 10.0  # seconds; a lease is a minute


class _HeldSandbox:
    """The sandbox while a job is held: its lease is renewed between the runs, so that it is lost in none of them."""

    def __init__(self, sandbox: Sandbox, held: Claim[CaseRun]) -> None:
        self.name = sandbox.name
        self._sandbox = sandbox
        self._held = held
        self._renewed = time.monotonic()

    def run(self, prepared: PreparedRun) -> Observation:
        if time.monotonic() - self._renewed > RENEW_AFTER:
            self._held.note()
            self._renewed = time.monotonic()
        return self._sandbox.run(prepared)


def run_cases(
    script: str,
    case_set: CaseSet,
    *,
    found: Availability | None = None,
    before_keeping: Callable[[], None] = lambda: None,
) -> Execution:
    """Run the cases on the script in this process, confined, and keep the result with its quality.

    The quality is measured once for a script, its cases and a kind of machine, and again where a verdict changes.
    Where there is no sandbox nothing is run: the state is *not run*, with the reason. `before_keeping` is called when
    all is run; nothing is kept where it raises.
    """
    found = found or current_sandbox()
    parsed = read_case_set(json.dumps(case_set.content))
    execution = run_case_set(parsed, script, found)
    if found.sandbox is None or not _is_news(case_set, execution):
        before_keeping()
        return _keep(case_set, execution, None)
    stable, quality = measure_quality(parsed, script, execution, found.sandbox)
    before_keeping()
    return _keep(case_set, stable, quality)


def request_run(
    script: str, case_set: CaseSet, *, purpose: CaseRun.Purpose, by: User | None = None
) -> CaseRun:
    """Let a worker run the cases; one that is under way already serves for this, too."""
    values = {"script_sha256": Version.hash_of(script), "case_set": case_set}
    for _attempt in range(ATTEMPTS):
        there = CaseRun.objects.filter(**values, state__in=["waiting", "running"]).first()
        if there is not None:
            return there
        try:
            with transaction.atomic():
                run = CaseRun.objects.create(script=script, purpose=purpose, by=by, **values)
        except IntegrityError:
            # Somebody asked at the same moment; theirs may have ended before it is looked for.
            continue
        return run.enqueue()
    raise NotAllowedNow(_("These cases are being asked for by others; try it again."))


def carry_out_run(pk: int) -> None:
    """A worker runs what was asked for, unless another one does; nothing where it has ended.

    What somebody waits for comes before what is run every night or for a new machine. A worker without a sandbox
    leaves it to one that has one.
    """
    found = current_sandbox()
    if found.sandbox is None and is_served():
        return
    asked = CaseRun.objects.filter(pk=pk, state=CaseRun.State.WAITING, purpose__in=BACKGROUND)
    while asked.exists() and (urgent := _next_urgent()) is not None:
        _carry_out(urgent, found)
    held = claim(CaseRun, pk)
    if held is not None:
        _carry_out(held, found)


def _next_urgent() -> Claim[CaseRun] | None:
    """The oldest that waits and is not of the background, claimed; None where others were faster."""
    waiting = CaseRun.objects.filter(state=CaseRun.State.WAITING).exclude(purpose__in=BACKGROUND)
    first = waiting.order_by("pk").values_list("pk", flat=True).first()
    return claim(CaseRun, first) if first is not None else None


def _carry_out(held: Claim[CaseRun], found: Availability) -> None:
    run = CaseRun.objects.select_related("case_set").get(pk=held.pk)
    if found.sandbox is not None:
        found = Availability(
            sandbox=_HeldSandbox(found.sandbox, held), fingerprint=found.fingerprint
        )
    try:
        execution = run_cases(run.script, run.case_set, found=found, before_keeping=held.note)
    except LostLease:
        logger.warning("Case run %s is somebody else's now", held.pk)
    except Cancelled:
        held.end(CaseRun.State.CANCELLED, script="")
        _count(run, "cancelled")
    except Exception as error:
        held.end(CaseRun.State.FAILED, script="", trouble=str(error)[:2000])
        _count(run, "failed")
        raise
    else:
        held.end(CaseRun.State.DONE, script="", execution=execution)
        _count(run, "done")


def _count(run: CaseRun, state: str) -> None:
    """For the metrics; of drafts none, for one that was flagged in a study has more of them."""
    if run.purpose != CaseRun.Purpose.DRAFT:
        metrics.count(metrics.EXECUTIONS, state)


def _is_news(case_set: CaseSet, execution: cases.Execution) -> bool:
    """Whether the quality is still to be measured: nothing is known of it, or a verdict has changed."""
    assert execution.fingerprint is not None
    if not execution.count(State.PASSED, State.FAILED):
        return False
    last = last_execution(execution.script_sha256, case_set, execution.fingerprint.sha256)
    return last is None or differs(last, execution)


def _keep(case_set: CaseSet, execution: cases.Execution, quality: Quality | None) -> Execution:
    stored = store_execution(case_set, execution, quality)
    note_result(stored)
    return stored
