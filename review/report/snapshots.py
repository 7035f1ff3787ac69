"""What is kept of a report: who looked, snapshots, the items behind a figure, why execution and experts differ."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from typing import Literal

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F, Func, QuerySet, TextField, Value
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput
from review.counting.tallies import count_due
from review.models import Campaign, Item, Member, ReportLook, ReportSnapshot, Tally, TallyDue
from review.report.services import Document, make_report
from review.report.threats import report_threats
from review.study import FIGURES, Criterion, ItemPattern, patterns_behind
from review.study.figures import EXECUTION_REASONS

MAX_NAME = 150
# Switching between strict and partial is not another look.
SAME_LOOK = timedelta(minutes=10)

Which = Literal["all", "numerator", "rest"]


def log_look(campaign: Campaign, report: Document, *, by: User) -> None:
    """Note that somebody saw the live report; once in ten minutes for as long as it says the same."""
    if campaign.state == Campaign.State.CLOSED:
        return
    scored = count_scored(report)
    since = timezone.now() - SAME_LOOK
    if not campaign.looks.filter(by=by, scored=scored, at__gte=since).exists():
        ReportLook.objects.create(campaign=campaign, by=by, scored=scored)


def count_scored(report: Document) -> int:
    """Items with a final script score, over all Configurations."""
    details = report["details"]
    assert isinstance(details, dict)
    return sum(arm["items"]["scored"] for arm in details["arms"])


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


def find_items(
    campaign: Campaign, *, configuration: str, figure: str, criterion: Criterion, which: Which
) -> QuerySet[Item]:
    """The items that a figure is about, that its numerator counts, or that only its denominator does.

    Raises BadInput where there is no such figure.
    """
    if figure not in {one.name for one in FIGURES}:
        raise BadInput(_("There is no such figure."), field="figure")
    texts = campaign.tallies.filter(
        configuration__name=configuration, kind=Tally.Kind.ITEM, count__gt=0
    ).values_list("pattern", flat=True)
    patterns = {ItemPattern.from_text(text): 1 for text in texts}
    wanted = set(patterns_behind(patterns, figure, criterion, only_numerator=which == "numerator"))
    if which == "rest":
        wanted -= set(patterns_behind(patterns, figure, criterion, only_numerator=True))
    # An item keeps its pattern as the first text of a JSON list.
    kept = Func(F("pattern"), Value('"'), Value(2), function="split_part", output_field=TextField())
    return (
        campaign.items.filter(configuration__name=configuration)
        .annotate(counted_as=kept)
        .filter(counted_as__in=[pattern.to_text() for pattern in wanted])
    )


def note_unblinded(campaign: Campaign, *, by: User) -> None:
    """Mark a member who saw which items the assessor flagged: they are no longer blind to them."""
    Member.objects.filter(campaign=campaign, user=by, unblinded_at=None).update(
        unblinded_at=timezone.now()
    )


@transaction.atomic
def explain_execution(item: Item, *, reason: str, by: User) -> None:
    """Say why execution and experts differ on an item, or take it back with an empty reason."""
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Reasons are given by managers."))
    if reason and reason not in EXECUTION_REASONS:
        raise BadInput(_("Choose one of the reasons."), field="reason")
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    if locked.execution is None:
        raise BadInput(_("This item has no execution result."), field="reason")
    before = locked.execution_reason
    if before == reason:
        return
    locked.execution_reason = reason
    locked.save(update_fields=["execution_reason"])
    TallyDue.objects.create(item=locked, campaign=locked.campaign)
    record(locked, "execution explained", by=by, execution_reason=(before, reason))
