"""Pages that save, show and download snapshots of a report."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput
from core.web.requests import signed_in
from review.access import access_report
from review.campaigns.looks import log_look
from review.models import ReportLook, ReportSnapshot
from review.report.report_view import ReportView
from review.report.snapshots import take_snapshot, write_canonical
from review.report.threats.page import show_threats
from review.report.views.parameters import read_criterion, switch_of
from review.report.views.report import show_body, show_live, write_table


@require_POST
def campaign_snapshot(request: HttpRequest, pk: int) -> HttpResponse:
    """Save a snapshot of the current report."""
    user = signed_in(request)
    campaign = access_report(user, pk)
    name = request.POST.get("name", "")
    try:
        snapshot = take_snapshot(campaign, name=name, by=user)
    except BadInput as refused:
        return show_live(request, campaign, refused=refused, typed=name)
    messages.success(request, _("Snapshot saved."))
    return redirect("campaign-report-snapshot", pk=pk, snapshot=snapshot.pk)


@require_safe
def report_snapshot(request: HttpRequest, pk: int, snapshot: int) -> HttpResponse:
    """Show a snapshot of a report."""
    kept = _see_snapshot(request, pk, snapshot)
    criterion = read_criterion(request)
    name = "campaign-report-snapshot-table"
    context = {
        "campaign": kept.campaign,
        "snapshot": kept,
        "criteria": switch_of(criterion),
        "tables_url": reverse(name, args=[pk, kept.pk, "x", "md"]).removesuffix("x.md"),
        "contents_more": [("threats", _("Threats to validity"))],
        **show_body(kept.data, criterion),
        "threats": show_threats(ReportView(kept.data, criterion), kept.data["threats"]),
    }
    return render(request, "review/report/snapshot.html", context)


@require_safe
def report_snapshot_table(
    request: HttpRequest, pk: int, snapshot: int, table: str, ending: str
) -> HttpResponse:
    """Return one table of a snapshot as text."""
    kept = _see_snapshot(request, pk, snapshot)
    criterion = read_criterion(request)
    return write_table(kept.data, criterion, table, ending, threats=kept.data["threats"])


@require_safe
def report_snapshot_file(request: HttpRequest, pk: int, snapshot: int) -> HttpResponse:
    """Download the snapshot's data, byte for byte as hashed."""
    kept = _see_snapshot(request, pk, snapshot)
    return HttpResponse(
        write_canonical(kept.data),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="report-{pk}-{kept.pk}.json"'},
    )


def _see_snapshot(request: HttpRequest, campaign: int, pk: int) -> ReportSnapshot:
    """Return one of the campaign's snapshots and record the view."""
    user = signed_in(request)
    found = access_report(user, campaign)
    kept = get_object_or_404(found.snapshots.select_related("by", "campaign"), pk=pk)
    log_look(found, ReportLook.What.SNAPSHOT, by=user)
    return kept
