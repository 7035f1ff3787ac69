"""Record the outcomes of script runs that programs report, and mark reports as seen by a curator."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services import is_withheld
from catalog.models import Entry, OutcomeReport, Use, Version
from core.audit import record
from core.errors import BadInput, NotAllowedNow
from core.texts import LONGEST_REASON, clean_text

LONGEST_INCIDENT = 100


@transaction.atomic
def report_outcome(
    entry: Entry,
    *,
    number: int,
    outcome: str,
    by: User,
    token: str,
    incident: str = "",
    note: str = "",
) -> OutcomeReport:
    """Record the outcome of a run of this version. The version's state and rank do not change.

    Raises BadInput if a field is invalid or if the outcome `worse` has no incident.
    """
    if outcome not in Use.Outcome.values:
        raise BadInput(_("Choose one of the outcomes."), field="outcome")
    worse = outcome == Use.Outcome.WORSE
    incident = clean_text(incident, field="incident", longest=LONGEST_INCIDENT, required=worse)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    version = Version.objects.filter(entry=entry, number=number, verified_at__isnull=False).first()
    if version is None or is_withheld(version):
        raise BadInput(
            _("No verified or formerly verified version of this entry has this number."),
            field="version",
        )
    report = OutcomeReport.objects.create(
        version=version, by=by, token=token[:80], outcome=outcome, incident=incident, note=note
    )
    record(version, "outcome reported by a program", by=by, outcome=("", outcome))
    return report


@transaction.atomic
def mark_seen(report: OutcomeReport, *, by: User) -> None:
    """Mark a report as seen by a curator. Raises NotAllowedNow if a curator has already seen it."""
    require(by, CURATE)
    now = timezone.now()
    if not OutcomeReport.objects.filter(pk=report.pk, seen_at=None).update(seen_at=now, seen_by=by):
        raise NotAllowedNow(_("Another curator has already marked this as seen."))
    record(report.version, "outcome report seen", by=by, report=("", report.pk))
