"""Pages that list bad outcomes reported by programs, and downloads of scripts for runners."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog.access import access_entry, curator_of
from catalog.listing.views.worklists import tabs_of
from catalog.models import OutcomeReport
from catalog.programs import services
from core.errors import NotAllowedNow
from core.web.requests import page_of
from core.web.site_address import site_url


@require_safe
def outcome_report_list(request: HttpRequest) -> HttpResponse:
    """List the reports that no curator has seen yet, newest first."""
    user = curator_of(request)
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "outcome-reports"),
        "page": page_of(OutcomeReport.objects.to_look_at(), request),
    }
    return render(request, "catalog/programs/outcome_reports.html", context)


@require_POST
def outcome_report_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark a report as seen."""
    user = curator_of(request)
    report = get_object_or_404(OutcomeReport.objects.select_related("version__entry"), pk=pk)
    try:
        services.mark_seen(report, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Marked as seen. The report stays in the audit log."))
    return redirect("outcome-report-list")


@require_safe
def entry_export(request: HttpRequest, slug: str, runner: str) -> HttpResponse:
    """Download the verified script as an Ansible role, a Rundeck job or an AWX survey."""
    entry = access_entry(request.user, slug)
    try:
        wanted = services.Runner(runner)
    except ValueError:
        raise Http404 from None
    return file_response(
        services.export_for(entry, wanted, link=partial(site_url, request=request))
    )


def file_response(file: services.ExportedFile) -> HttpResponse:
    """Return the file as a download, for both the page and the API."""
    return HttpResponse(
        file.data,
        content_type=file.content_type,
        headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
    )
