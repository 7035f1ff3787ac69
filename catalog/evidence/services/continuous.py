"""Keep test results current by running entries' tests every night and after new versions, approvals and merges."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from catalog.evidence.services.running import request_run
from catalog.evidence.services.sandboxes import is_served, report_again, report_sandbox
from catalog.models import CaseRun, CaseSet, Entry, EntryCases, Version

State = Version.State

logger = logging.getLogger(__name__)

REPORT_EVERY = 30.0  # seconds
AT_A_TIME = 100  # versions whose scripts are in memory at the same time
KEPT_FOR = timedelta(days=30)
UNSERVED_FOR = timedelta(days=1)


def request_runs(
    version: Version,
    *,
    purpose: CaseRun.Purpose,
    by: User | None = None,
    only: CaseSet | None = None,
) -> list[CaseRun]:
    """Request runs of a version's script with all test suites of the entry, or with the suite `only`."""
    kept = EntryCases.objects.filter(entry=version.entry_id, removed_at=None)
    if only is not None:
        kept = kept.filter(case_set=only)
    return [
        request_run(version.script, row.case_set, purpose=purpose, by=by)
        for row in kept.select_related("case_set")
    ]


def request_runs_of(
    entry: Entry,
    *,
    purpose: CaseRun.Purpose,
    by: User | None = None,
    only: CaseSet | None = None,
    known: Collection[str] = (),
) -> list[CaseRun]:
    """Request runs for the entry's live and newest versions, except for scripts in `known`."""
    verified = entry.versions.filter(state=State.VERIFIED).first()
    newest = entry.versions.exclude(state=State.DEPRECATED).order_by("-number").first()
    versions = {one.sha256: one for one in (newest, verified) if one is not None}
    return [
        run
        for version in versions.values()
        if version.sha256 not in known
        for run in request_runs(version, purpose=purpose, by=by, only=only)
    ]


def request_all_runs(*, purpose: CaseRun.Purpose) -> int:
    """Request runs of all test suites for every entry with a live version. Return the number of runs."""
    answering = (
        Version.objects.filter(
            state=State.VERIFIED,
            entry__merged_into=None,
            pk__in=Version.objects.filter(
                entry__case_sets__isnull=False, entry__case_sets__removed_at=None
            ).values("pk"),
        )
        .only("entry_id", "script")
        .order_by("pk")
    )
    return sum(
        len(request_runs(version, purpose=purpose))
        for version in answering.iterator(chunk_size=AT_A_TIME)
    )


def delete_old_runs() -> int:
    """Delete runs that ended more than 30 days ago and return their number. Results are stored separately and kept."""
    ended = CaseRun.objects.filter(ended_at__lt=timezone.now() - KEPT_FOR)
    number, _by_table = ended.delete()
    return number


def delete_unserved_runs() -> int:
    """Delete runs that have waited for more than a day, if no sandbox worker is active. Return their number."""
    if is_served():
        return 0
    old = CaseRun.objects.filter(
        state=CaseRun.State.WAITING, created_at__lt=timezone.now() - UNSERVED_FOR
    )
    return old.delete()[0]


def keep_reporting() -> None:
    """Start a thread that reports every 30 seconds that the worker is alive, because tasks may take longer."""
    threading.Thread(target=_report_for_ever, name="sandbox-report", daemon=True).start()


def _report_for_ever() -> None:
    while True:
        time.sleep(REPORT_EVERY)
        try:
            if not report_again():
                probe_sandbox()
        except Exception:
            # The database is probably down. The pages show that reports are missing.
            logger.warning("the sandbox worker could not report", exc_info=True)
        finally:
            connection.close()


def probe_sandbox() -> None:
    """Probe the sandbox and store the result for the pages. On a new kind of machine, the nightly run repeats the
    tests.
    """
    report_sandbox()
