"""Entries whose script did something else in its cases than before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog.access import curator_of
from catalog.evidence import services
from catalog.listing.views.worklists import tabs_of
from catalog.models import CheckResult, EvidenceChange
from core.errors import NotAllowedNow
from core.web.requests import page_of

CHANGES = 25


class ListedChange(NamedTuple):
    """What changed, check by check, and on which machine where that is another one."""

    change: EvidenceChange
    checks: Sequence[tuple[CheckResult, str]]
    environment: Sequence[tuple[str, str, str]]


@require_safe
def evidence_list(request: HttpRequest) -> HttpResponse:
    """Changes that no curator has looked at."""
    user = curator_of(request)
    changes = services.changed_evidence().prefetch_related("before__checks", "after__checks")
    page = page_of(changes, request, size=CHANGES)
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "evidence"),
        "page": page,
        "changes": [
            ListedChange(
                change,
                services.changed_checks(change.before, change.after),
                services.changed_environment(change.before, change.after),
            )
            for change in page.rows
        ],
    }
    return render(request, "catalog/curation/changed_evidence.html", context)


@require_POST
def evidence_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """A curator has looked at it."""
    user = curator_of(request)
    change = get_object_or_404(EvidenceChange.objects.select_related("entry"), pk=pk)
    try:
        services.mark_change_seen(change, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Noted. It is listed again when the evidence changes again."))
    return redirect("evidence-list")
