"""What programs say of a run: written down, and listed for a person where something got worse."""

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
    """Write down how a run of this version went. Nothing else changes: neither an order nor a state.

    Raises BadInput; `worse` needs an incident.
    """
    if outcome not in Use.Outcome.values:
        raise BadInput(_("Choose one of the outcomes."), field="outcome")
    worse = outcome == Use.Outcome.WORSE
    incident = clean_text(incident, field="incident", longest=LONGEST_INCIDENT, required=worse)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    version = Version.objects.filter(entry=entry, number=number, verified_at__isnull=False).first()
    if version is None or is_withheld(version):
        raise BadInput(_("The entry has no such version that was ever verified."), field="version")
    report = OutcomeReport.objects.create(
        version=version, by=by, token=token[:80], outcome=outcome, incident=incident, note=note
    )
    record(version, "outcome reported by a program", by=by, outcome=("", outcome))
    return report


@transaction.atomic
def mark_seen(report: OutcomeReport, *, by: User) -> None:
    """A curator has looked at it. Raises NotAllowedNow where somebody had before."""
    require(by, CURATE)
    now = timezone.now()
    if not OutcomeReport.objects.filter(pk=report.pk, seen_at=None).update(seen_at=now, seen_by=by):
        raise NotAllowedNow(_("Somebody has looked at this already."))
    record(report.version, "outcome report seen", by=by, report=("", report.pk))
