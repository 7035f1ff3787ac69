"""Versions of which a newer checker says something else than what they were verified with."""

from __future__ import annotations

from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog import analysis
from catalog.access import curator_of
from catalog.curation import services
from catalog.entries import services as entry_services
from catalog.entries.services.findings import Changed
from catalog.listing.views.worklists import tabs_of
from catalog.models import Recheck
from core.errors import NotAllowedNow
from core.web.requests import page_of

FINDINGS = 50


class ListedRecheck(NamedTuple):
    """What a recheck says, and in what it differs."""

    recheck: Recheck
    changed: Changed


@require_safe
def finding_list(request: HttpRequest) -> HttpResponse:
    """Versions of which a newer checker says something else."""
    user = curator_of(request)
    page = page_of(Recheck.objects.to_look_at(), request, size=FINDINGS)
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "findings"),
        "page": page,
        "findings": [
            ListedRecheck(recheck, entry_services.compare_findings(recheck.version, recheck))
            for recheck in page.rows
        ],
        "checkers": analysis.checkers(),
        "to_recheck": services.to_recheck().count(),
    }
    return render(request, "catalog/curation/newer_findings.html", context)


@require_POST
def finding_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """A curator has looked at it."""
    user = curator_of(request)
    recheck = get_object_or_404(Recheck.objects.select_related("version__entry"), pk=pk)
    try:
        services.mark_seen(recheck, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Noted. It is listed again when the findings change again."))
    return redirect("finding-list")
