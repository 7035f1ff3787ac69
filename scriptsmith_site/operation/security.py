"""The security log for administrators: view, export and current lockouts."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from core.web.requests import csv_lines, page_of, signed_in
from scriptsmith_site.models import GuessCount, SecurityEvent
from scriptsmith_site.operation.days import start_of
from scriptsmith_site.people.security_log import unknown_name_mark
from scriptsmith_site.people.services import require_administrator
from scriptsmith_site.people.sign_in import lockouts

COLUMNS = (
    "time",
    "event",
    "person",
    "unknown name",
    "by",
    "detail",
    "address",
    "program",
    "request",
    "number",
)
_DAY = {"type": "date"}


class SecurityFilters(forms.Form):
    person = forms.CharField(label=_("User"), required=False, max_length=254)
    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("any")), *SecurityEvent.Kind.choices]
    )
    address = forms.CharField(label=_("Address or network"), required=False, max_length=50)
    since = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput(attrs=_DAY, format="%Y-%m-%d")
    )
    until = forms.DateField(
        label=_("To"), required=False, widget=forms.DateInput(attrs=_DAY, format="%Y-%m-%d")
    )

    def clean_address(self) -> str:
        """Convert the address to a network such as 10.0.0.0/8. Raises ValidationError if it is invalid."""
        typed: str = self.cleaned_data["address"].strip()
        if not typed:
            return ""
        try:
            return str(ipaddress.ip_network(typed, strict=False))
        except ValueError:
            raise forms.ValidationError(
                _("Enter an address such as 192.0.2.7, or a network such as 10.0.0.0/8.")
            ) from None


@require_GET
def show_security_log(request: HttpRequest) -> HttpResponse:
    require_administrator(signed_in(request))
    filters = SecurityFilters(request.GET)
    context = {
        "filters": filters,
        "filtered": any(request.GET.get(name) for name in filters.fields),
        "page": page_of(find_events(filters), request),
        "query": _without_place(request.GET),
        "lockouts": lockouts.current_lockouts(),
    }
    return render(request, "site/security.html", context, status=422 if filters.errors else 200)


@require_GET
def export_security_log(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Export all events that match the filters as CSV, newest first and with times in UTC."""
    require_administrator(signed_in(request))
    filters = SecurityFilters(request.GET)
    if not filters.is_valid():
        return show_security_log(request)
    rows = find_events(filters).order_by("-pk").iterator(chunk_size=1000)
    return StreamingHttpResponse(
        csv_lines(_table(rows)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="security-log.csv"'},
    )


@require_POST
def lift(request: HttpRequest, pk: int) -> HttpResponse:
    """Lift one lockout, if it has not expired."""
    require_administrator(signed_in(request))
    lockouts.lift_one(get_object_or_404(GuessCount, pk=pk), by=signed_in(request))
    messages.success(request, _("Lockout lifted."))
    return redirect("audit-security")


def find_events(filters: SecurityFilters) -> QuerySet[SecurityEvent]:
    """Return the events that match the filters, or no events if a filter is invalid."""
    events = SecurityEvent.objects.select_related("user", "by")
    if not filters.is_valid():
        return events.none()
    wanted = filters.cleaned_data
    conditions = Q()
    if name := wanted["person"]:
        # Find an unknown name by the name itself or by its mark in the log.
        conditions &= (
            Q(user__username=name)
            | Q(by__username=name)
            | Q(unknown_name__in=(unknown_name_mark(name), name[:8]))
        )
    if wanted["kind"]:
        conditions &= Q(kind=wanted["kind"])
    if wanted["address"]:
        network = ipaddress.ip_network(wanted["address"])
        conditions &= Q(address__range=(str(network[0]), str(network[-1])))
    if wanted["since"]:
        conditions &= Q(at__gte=start_of(wanted["since"]))
    if wanted["until"]:
        conditions &= Q(at__lt=start_of(wanted["until"], later=1))
    return events.filter(conditions)


def _table(events: Iterable[SecurityEvent]) -> Iterator[tuple[str, ...]]:
    yield COLUMNS
    for event in events:
        yield (
            event.at.isoformat(timespec="seconds"),
            event.get_kind_display(),
            event.user.get_username() if event.user else "",
            event.unknown_name,
            event.by.get_username() if event.by else "",
            event.detail,
            event.address or "",
            event.agent,
            event.request_id,
            str(event.pk),
        )


def _without_place(query: QueryDict) -> str:
    """Return the URL's filters without the page position, because an export starts at the newest event."""
    kept = query.copy()
    for name in ("before", "after"):
        kept.pop(name, None)
    return kept.urlencode()
