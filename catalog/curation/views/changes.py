"""Pages that list verified entries whose findings or behavior have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from catalog.evidence import services as evidence
from catalog.listing.views.worklists import tabs_of
from catalog.models import CheckResult, EvidenceChange, Recheck, ToolRule
from core.errors import NotAllowedNow
from core.web.requests import page_of

FINDINGS = 50
CHANGES = 25


class ListedRecheck(NamedTuple):
    """The findings of a recheck, and their differences from the version's findings."""

    recheck: Recheck
    changed: Changed


class ListedChange(NamedTuple):
    """A change of evidence with its changed checks and any differences between the environments."""

    change: EvidenceChange
    checks: Sequence[tuple[CheckResult, str]]
    environment: Sequence[tuple[str, str, str]]


@require_safe
def finding_list(request: HttpRequest) -> HttpResponse:
    """List the versions whose findings differ under a newer checker."""
    user = curator_of(request)
    raised = Recheck.objects.with_raised_risk()
    is_raised_only = request.GET.get("risk") == "raised"
    listed = raised if is_raised_only else Recheck.objects.to_look_at()
    page = page_of(listed, request, size=FINDINGS)
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "findings"),
        "page": page,
        "rows": [
            ListedRecheck(recheck, entry_services.compare_findings(recheck.version, recheck))
            for recheck in page.rows
        ],
        "checkers": analysis.checkers(ToolRule.objects.in_force()),
        "raised": raised.count(),
        "is_raised_only": is_raised_only,
        "to_recheck": services.to_recheck().count(),
    }
    return render(request, "catalog/curation/newer_findings.html", context)


@require_safe
def evidence_list(request: HttpRequest) -> HttpResponse:
    """List the evidence changes that no curator has seen."""
    user = curator_of(request)
    changes = evidence.changed_evidence().prefetch_related("before__checks", "after__checks")
    page = page_of(changes, request, size=CHANGES)
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "evidence"),
        "page": page,
        "rows": [
            ListedChange(
                change,
                evidence.changed_checks(change.before, change.after),
                evidence.changed_environment(change.before, change.after),
            )
            for change in page.rows
        ],
    }
    return render(request, "catalog/curation/changed_evidence.html", context)


@require_POST
def finding_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the findings of a newer checker as seen."""
    user = curator_of(request)
    recheck = get_object_or_404(Recheck.objects.select_related("version__entry"), pk=pk)
    _note(request, lambda: services.mark_seen(recheck, by=user))
    return redirect("finding-list")


@require_POST
def evidence_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark the changed behavior of a script as seen."""
    user = curator_of(request)
    change = get_object_or_404(EvidenceChange.objects.select_related("entry"), pk=pk)
    _note(request, lambda: evidence.mark_change_seen(change, by=user))
    return redirect("evidence-list")


def _note(request: HttpRequest, mark_seen: Callable[[], object]) -> None:
    try:
        mark_seen()
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(
            request,
            _("Marked as seen. The change reappears only if the results change again."),
        )
