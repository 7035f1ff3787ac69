"""Snapshots of a report, and the record of who looked at it."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput
from review.counting.tallies import count_due
from review.models import Campaign, Member, ReportLook, ReportSnapshot
from review.report.services import Document, make_report
from review.report.threats.counts import report_threats

MAX_NAME = 150
# Switching between strict and partial is not another look.
SAME_LOOK = timedelta(minutes=10)


def log_look(campaign: Campaign, scored: int, *, by: User | None) -> None:
    """Note that somebody saw the live report; once in ten minutes for as long as it says the same.

    Nobody stands for the command line, whose user has the machine.
    """
    if campaign.state == Campaign.State.CLOSED:
        return
    since = timezone.now() - SAME_LOOK
    if not campaign.looks.filter(by=by, scored=scored, at__gte=since).exists():
        ReportLook.objects.create(campaign=campaign, by=by, scored=scored)


def count_scored(report: Document) -> int:
    """Items with a final script score under one criterion at least, over all Configurations."""
    details = report["details"]
    assert isinstance(details, dict)
    return sum(arm["items"]["scored"] for arm in details["arms"])


def count_final(document: Document) -> int:
    """Items with a final script score under strict, over all Configurations, by the document alone."""
    arms = document["configurations"]
    assert isinstance(arms, list)
    return sum(arm["strict"]["first_pass_accuracy"]["denominator"] for arm in arms)


@transaction.atomic
def take_snapshot(campaign: Campaign, *, name: str, by: User) -> ReportSnapshot:
    """Keep the report with its threats as it stands now, all that is due counted; it never changes again."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "\0" in name:
        raise BadInput(
            _("Give the snapshot a name of at most %s characters.") % MAX_NAME, field="name"
        )
    count_due(campaign)
    data = make_report(campaign) | {"threats": report_threats(campaign)}
    snapshot = ReportSnapshot.objects.create(
        campaign=campaign,
        name=name,
        data=data,
        sha256=hashlib.sha256(write_canonical(data).encode()).hexdigest(),
        by=by,
    )
    record(campaign, "report snapshot taken", by=by, snapshot=("", name))
    return snapshot


def write_canonical(data: Document) -> str:
    """The same text for the same data, whatever the order of its keys: what a snapshot's hash is of."""
    return json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def note_unblinded(campaign: Campaign, *, by: User) -> None:
    """Mark a member who saw which items the assessor flagged: they are no longer blind to them."""
    Member.objects.filter(campaign=campaign, user=by, unblinded_at=None).update(
        unblinded_at=timezone.now()
    )
