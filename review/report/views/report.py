"""The live report of a study: the report page, tables as text, threats to validity and pairs of reviewers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from core.errors import BadInput
from core.web.requests import signed_in
from review.access import access_report
from review.campaigns import services
from review.campaigns.dashboard import count_reviewers
from review.campaigns.looks import log_look
from review.campaigns.services.planning import Plan
from review.campaigns.views.planning import plan_context
from review.models import Campaign, ReportLook
from review.report.overview import show_overview
from review.report.plan_reached import tabulate_plan
from review.report.report_view import Json, ReportView
from review.report.sections import show_sections, tables_in
from review.report.sections.agreement import STAGES, heat_of, names_of, pair_blocks
from review.report.sections.figures import note_of
from review.report.sections.section import Section
from review.report.services import make_report, recent_report, renew_report
from review.report.tables.formats import FORMATS, format_links
from review.report.tables.table import Table
from review.report.threats.counts import recent_threats
from review.report.threats.page import show_threats
from review.report.threats.tables import threat_tables
from review.report.views.parameters import read_criterion, switch_of
from review.study import Criterion


@require_safe
def campaign_report(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the current report. In a large study, the report may be a few seconds old.

    Views are recorded, because they are a threat to validity.
    """
    return show_live(request, access_report(signed_in(request), pk))


@require_safe
def report_table(request: HttpRequest, pk: int, table: str, ending: str) -> HttpResponse:
    """Download a table of the live report as text. The view is recorded."""
    campaign = access_report(signed_in(request), pk)
    report = make_report(campaign)
    log_look(campaign, ReportLook.What.REPORT, by=signed_in(request))
    criterion = read_criterion(request)
    plan = services.plan_of(campaign)
    more = [_tabulate_plan(campaign, report, criterion, plan)] if plan else []
    threats = recent_threats(campaign) if table.startswith("threat-") else None
    return write_table(report, criterion, table, ending, more=more, threats=threats)


@require_safe
def report_threats_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how the study prevents, records or reports each threat to validity. The view is recorded."""
    user = signed_in(request)
    campaign = access_report(user, pk)
    criterion = read_criterion(request)
    view = ReportView(recent_report(campaign), criterion)
    context = {
        "campaign": campaign,
        "criteria": switch_of(criterion),
        "criterion": criterion.value,
        "threats": show_threats(view, recent_threats(campaign)),
        "is_unblinded": not campaign.hides_verdict,
        "is_demo": any(arm["demo"] for arm in view.arms),
        "tables_url": tables_url(campaign),
        "formats": format_links(),
    }
    log_look(campaign, ReportLook.What.THREATS, by=user)
    return render(request, "review/report/threats.html", context)


@require_safe
def report_pairs(request: HttpRequest, pk: int, stage: str) -> HttpResponse:
    """Show the agreement of each pair of reviewers at a stage. The view is recorded.

    The report links to this page if it has too many reviewers to include the pairs.
    """
    user = signed_in(request)
    campaign = access_report(user, pk)
    report = make_report(campaign)
    agreement = cast(Json, report["agreement"])
    if stage not in agreement:
        raise Http404
    log_look(campaign, ReportLook.What.PAIRS, by=user)
    one = agreement[stage]
    note = note_of(ReportView(report, Criterion.STRICT))
    context = {
        "campaign": campaign,
        "stage": {"key": stage, "label": STAGES[stage], "names": names_of(one)},
        "heat": heat_of(one),
        "note": note,
        "section": Section(stage, str(STAGES[stage]), list(pair_blocks(stage, one, note))),
        "tables_url": tables_url(campaign),
        "formats": format_links(),
        "criterion": Criterion.STRICT.value,
    }
    return render(request, "review/report/pairs.html", context)


def show_live(
    request: HttpRequest,
    campaign: Campaign,
    *,
    refused: BadInput | None = None,
    typed: str = "",
) -> HttpResponse:
    """Render the report page. `refused` and `typed` are the error and the name of a rejected snapshot."""
    criterion = read_criterion(request)
    report = renew_report(campaign) if "now" in request.GET else recent_report(campaign)
    log_look(campaign, ReportLook.What.REPORT, by=signed_in(request))
    context = {
        "campaign": campaign,
        "criteria": switch_of(criterion, reverse("campaign-report", args=[campaign.pk])),
        "snapshots": campaign.snapshots.defer("data").select_related("by"),
        "refused": refused,
        "typed": typed,
        "tables_url": tables_url(campaign),
        "contents_more": [("snapshots", _("Snapshots"))],
        **show_body(
            report,
            criterion,
            reverse("campaign-report-items", args=[campaign.pk]),
            reverse("campaign-report-changes", args=[campaign.pk]),
        ),
    }
    details = cast(Json, report["details"])
    if details.get("kept_seconds"):
        context["as_of"] = parse_datetime(details["at"])
    plan = services.plan_of(campaign)
    if plan is not None:
        context |= plan_context(plan)
        context["plan_table"] = _tabulate_plan(campaign, report, criterion, plan)
        context["contents_more"] = [("plan", _("Plan")), ("snapshots", _("Snapshots"))]
    return render(request, "review/report/report.html", context, status=422 if refused else 200)


def _tabulate_plan(campaign: Campaign, report: Json, criterion: Criterion, plan: Plan) -> Table:
    return tabulate_plan(ReportView(report, criterion), plan, reviewers=count_reviewers(campaign))


def show_body(
    report: Json, criterion: Criterion, items_url: str = "", changes_url: str = ""
) -> dict[str, object]:
    """Return the template context of a live or saved report. Without URLs, the report has no links to items."""
    view = ReportView(report, criterion, items_url, changes_url)
    return {
        "report": report,
        "details": view.details,
        "criterion": criterion.value,
        "arms": view.arms,
        "is_demo": any(arm["demo"] for arm in view.arms),
        "note": note_of(view),
        "overview": show_overview(view) if view.arms else None,
        "sections": show_sections(view) if view.arms else [],
        "formats": format_links(),
    }


def tables_url(campaign: Campaign) -> str:
    """Return the base URL of the tables. Templates append a table's name and a format's suffix."""
    return reverse("campaign-report-table", args=[campaign.pk, "x", "md"]).removesuffix("x.md")


def write_table(
    report: Json,
    criterion: Criterion,
    name: str,
    ending: str,
    *,
    more: Sequence[Table] = (),
    threats: Json | None = None,
) -> HttpResponse:
    """Return a table of the report, of its threats or of `more` as text.

    Raises Http404 for an unknown table or format.
    """
    form = FORMATS.get(ending)
    view = ReportView(report, criterion)
    tables = {one.key: one for one in tables_in(show_sections(view) if view.arms else [])}
    many = {
        table.key: table
        for stage, one in view.report["agreement"].items()
        for block in pair_blocks(stage, one, note_of(view))
        if (table := block.table)
    }
    others = [*more, *(threat_tables(view, threats).values() if threats else ())]
    found = (tables | many | {one.key: one for one in others}).get(name)
    if form is None or found is None:
        raise Http404(_("This table is not in the report."))
    return HttpResponse(form.write(found), content_type=form.content_type)
