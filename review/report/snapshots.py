"""Snapshots of a report, and records of reviewers who are unblinded by viewing the report's items."""

from __future__ import annotations

import hashlib
import json

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput
from review.campaigns.looks import log_look
from review.counting.tallies import count_due
from review.models import Campaign, Member, ReportLook, ReportSnapshot
from review.report.services import Document, make_report
from review.report.threats.counts import report_threats

MAX_NAME = 150


@transaction.atomic
def take_snapshot(campaign: Campaign, *, name: str, by: User) -> ReportSnapshot:
    """Count all due items, and save the current report with its threats as an immutable snapshot."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "\0" in name:
        raise BadInput(_("Enter a name of up to %s characters.") % MAX_NAME, field="name")
    count_due(campaign)
    data = make_report(campaign, exact=True) | {"threats": report_threats(campaign)}
    snapshot = ReportSnapshot.objects.create(
        campaign=campaign,
        name=name,
        data=data,
        sha256=hashlib.sha256(write_canonical(data).encode()).hexdigest(),
        by=by,
    )
    record(campaign, "report snapshot taken", by=by, snapshot=("", name))
    log_look(campaign, ReportLook.What.SNAPSHOT, by=by)
    return snapshot


def write_canonical(data: Document) -> str:
    """Return the data as JSON with sorted keys and without spaces, for a snapshot's hash."""
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def note_unblinded(campaign: Campaign, *, by: User) -> None:
    """Mark a member who has seen which items the assessor flagged as unblinded."""
    Member.objects.filter(campaign=campaign, user=by, unblinded_at=None).update(
        unblinded_at=timezone.now()
    )
