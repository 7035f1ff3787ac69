"""Execution evidence in reports: reviewers' changes to sandbox tests, and the figures of the review queue."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from core.errors import BadInput
from core.web.requests import page_of, signed_in
from review.access import access_live_report, access_report
from review.blinding.exposure import note_campaign
from review.evidence.campaign_cases import changes_of
from review.models import Campaign, CaseRevision, Exposure
from review.report.report_view import ReportView
from review.report.sections import tables_in
from review.report.sections.execution import show_execution
from review.report.services import make_live_report
from review.report.snapshots import note_unblinded
from review.report.tables.formats import FORMATS, format_links
from review.report.views.items import find_executed_items, say_executed
from review.report.views.parameters import read_criterion, switch_of


@require_safe
def report_changes(request: HttpRequest, pk: int) -> HttpResponse:
    """List reviewers' changes to the sandbox tests of a study, with their reasons."""
    user = signed_in(request)
    campaign = access_report(user, pk)
    answer = _show_changes(request, campaign)
    # The changes reveal sandbox tests of items that the user may still have to score.
    note_unblinded(campaign, by=user)
    note_campaign(user, campaign, Exposure.What.ITEMS)
    return answer


@require_safe
def live_changes(request: HttpRequest) -> HttpResponse:
    """List reviewers' changes to sandbox tests in the review queue."""
    return _show_changes(request, access_live_report(signed_in(request)))


@require_safe
def live_report(request: HttpRequest) -> HttpResponse:
    """Show the report of the review queue, which compares sandbox results with experts."""
    live = access_live_report(signed_in(request))
    criterion = read_criterion(request)
    addresses = (reverse("queue-execution-items"), reverse("queue-execution-changes"))
    view = ReportView(make_live_report(live), criterion, *addresses)
    context = {
        "section": show_execution(view),
        "criterion": criterion.value,
        "criteria": switch_of(criterion),
        "formats": format_links(),
        "tables_url": reverse("queue-execution-table", args=["x", "md"]).removesuffix("x.md"),
    }
    return render(request, "review/report/live_queue.html", context)


@require_safe
def live_table(request: HttpRequest, table: str, ending: str) -> HttpResponse:
    """Return one table of the review queue's report as text."""
    live = access_live_report(signed_in(request))
    refusal = BadInput(_("This table is not in the report."), field="table")
    form = FORMATS.get(ending)
    if form is None:
        raise refusal
    section = show_execution(ReportView(make_live_report(live), read_criterion(request)))
    found = next((one for one in tables_in([section] if section else []) if one.key == table), None)
    if found is None:
        raise refusal
    return HttpResponse(form.write(found), content_type=form.content_type)


@require_safe
def live_items(request: HttpRequest) -> HttpResponse:
    """List the items behind a number of the review queue's report."""
    live = access_live_report(signed_in(request))
    arm = request.GET.get("configuration", "")
    found, context = find_executed_items(request, live, arm, read_criterion(request))
    page = page_of(found.select_related("case__action", "run"), request)
    executed = context["executed"]
    assert isinstance(executed, dict)
    rows = [{"item": one, "executed": say_executed(executed[one.pk])} for one in page.rows]
    context |= {"page": page, "rows": rows}
    return render(request, "review/report/live_items.html", context)


def _show_changes(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    kind, reviewer = request.GET.get("kind", ""), request.GET.get("reviewer", "")
    if kind not in ("", *CaseRevision.Kind.values):
        raise BadInput(_("Unknown kind of change."), field="kind")
    found = changes_of(campaign)
    if kind:
        found = found.filter(kind=kind)
    if reviewer:
        found = found.filter(by__username=reviewer)
    page = page_of(found.select_related("by", "item__case__action"), request)
    context = {"campaign": campaign, "page": page, "reviewer": reviewer, "kind": kind}
    if kind:
        context["kind_label"] = CaseRevision.Kind(kind).label
    return render(request, "review/report/changes.html", context)
