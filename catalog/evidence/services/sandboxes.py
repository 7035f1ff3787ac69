"""Probe this process's sandbox every hour with a real test, and store the workers' reports."""

from __future__ import annotations

import threading
import time

from django.conf import settings
from django.utils import timezone

from catalog.execution.sandbox import Availability, find_sandbox
from catalog.models import SandboxReport
from catalog.models.evidence import MISSED_REPORTS

PROBE_AGAIN = 3600.0  # seconds
# Probe again soon after a failure, because the machine may only have been busy.
LOOK_AGAIN = 60.0  # seconds

_lock = threading.Lock()
_found: tuple[float, Availability] | None = None

SWITCHED_OFF = Availability(
    sandbox=None,
    reason="Execution is turned off.",
    remedy="An administrator can set SCRIPTSMITH_EXECUTION=True.",
)


def current_sandbox() -> Availability:
    """Return the sandbox of this process, or the reason why it has none. The result is at most an hour old."""
    global _found
    if not settings.SCRIPTSMITH_EXECUTION:
        return SWITCHED_OFF
    with _lock:
        now = time.monotonic()
        if _found is None or now - _found[0] > (PROBE_AGAIN if _found[1].sandbox else LOOK_AGAIN):
            _found = (now, find_sandbox())
        return _found[1]


def report_sandbox() -> None:
    """Probe the sandbox again and store the report. An unchanged report only updates the time in its row."""
    global _found
    with _lock:
        _found = None
    if not report_again():
        SandboxReport.objects.create(**_values_of(current_sandbox()))


def report_again() -> bool:
    """Update the time of the current report. Return False if the report has no row yet."""
    values = _values_of(current_sandbox())
    return bool(SandboxReport.objects.filter(**values).update(last_at=timezone.now()))


def _values_of(found: Availability) -> dict[str, object]:
    fingerprint = found.fingerprint
    return {
        "name": found.sandbox.name if found.sandbox is not None else "",
        "fingerprint": dict(fingerprint.parts) if fingerprint is not None else {},
        "fingerprint_sha256": fingerprint.sha256 if fingerprint is not None else "",
        "reason": found.reason,
        "remedy": found.remedy,
    }


def last_report() -> SandboxReport | None:
    """Return the latest report of a sandbox worker, or None if no worker has reported yet."""
    return SandboxReport.objects.first()


def sandbox_trouble() -> str:
    """Return the reason why no sandbox worker can run tests now, or an empty string."""
    if not settings.SCRIPTSMITH_EXECUTION:
        return SWITCHED_OFF.reason
    if is_served():
        return ""
    report = last_report()
    if report is None or not report.is_recent:
        return "No sandbox worker has reported recently."
    return f"{report.reason} {report.remedy}".strip()


def is_served() -> bool:
    """Return whether any worker with a sandbox has reported recently."""
    since = timezone.now() - MISSED_REPORTS
    return SandboxReport.objects.filter(last_at__gt=since).exclude(name="").exists()
