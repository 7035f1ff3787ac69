"""The audit log: view and export of all changes.

The export also contains the security log, except for events that the audit log records in more detail.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from heapq import merge
from itertools import chain
from operator import itemgetter
from typing import cast

from auditlog.models import LogEntry
from django import forms
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from core.web.requests import csv_lines, page_of, signed_in
from scriptsmith_site.models import SecurityEvent
from scriptsmith_site.operation.days import start_of
from scriptsmith_site.people.roles import ADMINISTER
from scriptsmith_site.people.security_log import IN_AUDIT_LOG
from scriptsmith_site.people.services import require_administrator, require_reader_of_audit_log

COLUMNS = ("time", "person", "event", "kind", "object", "number", "changes", "request", "address")
# Only administrators may see records from these apps, which concern accounts, and records of erasures.
_ABOUT_PEOPLE = ("auth", "scriptsmith_site")
_ERASURES = ("texts erased", "anonymised")
# The filter lists the events found in this many of the newest records.
_RECENT = 1000


class AuditFilters(forms.Form):
    person = forms.CharField(label=_("User"), required=False, max_length=150)
    kind = forms.ModelChoiceField(
        ContentType.objects.none(), label=_("Kind"), required=False, empty_label=_("any")
    )
    event = forms.CharField(
        label=_("Event"),
        required=False,
        max_length=60,
        widget=forms.TextInput(attrs={"list": "events"}),
    )
    day = forms.DateField(
        label=_("Day"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    number = forms.IntegerField(label=_("Number"), required=False, min_value=0)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        kind = cast(forms.ModelChoiceField[ContentType], self.fields["kind"])
        apps = ["auth", "catalog", "pipeline", "review", "scriptsmith_site"]
        kind.queryset = ContentType.objects.filter(app_label__in=apps).order_by(
            "app_label", "model"
        )


@require_GET
def show_audit_log(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    require_reader_of_audit_log(user)
    filters = AuditFilters(request.GET)
    records = shown_to(user, find_records(filters))
    administers = user.has_perm(ADMINISTER)
    context = {
        "administers": administers,
        "filters": filters,
        "filtered": any(request.GET.get(name) for name in filters.fields),
        "page": page_of(records, request),
        "events": recent_events(user),
        "query": request.GET.urlencode(),
    }
    return render(request, "site/audit.html", context, status=422 if filters.errors else 200)


@require_GET
def export_audit_log(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Export all records that match the filters as CSV, newest first and with times in UTC."""
    require_administrator(signed_in(request))
    filters = AuditFilters(request.GET)
    if not filters.is_valid():
        return show_audit_log(request)
    records = find_records(filters).order_by("-timestamp", "-pk").iterator(chunk_size=1000)
    events = _find_events(filters).order_by("-at", "-pk").iterator(chunk_size=1000)
    rows = merge(
        ((record.timestamp, _cells(record)) for record in records),
        ((event.at, _cells_of_event(event)) for event in events),
        key=itemgetter(0),
        reverse=True,
    )
    return StreamingHttpResponse(
        csv_lines(chain([COLUMNS], (cells for _at, cells in rows))),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="audit-log.csv"'},
    )


def find_records(filters: AuditFilters) -> QuerySet[LogEntry]:
    """Return the records that match the filters, or no records if a filter is invalid."""
    records: QuerySet[LogEntry] = LogEntry.objects.select_related("actor", "content_type")
    if not filters.is_valid():
        return records.none()
    wanted = filters.cleaned_data
    conditions = Q()
    if wanted["person"]:
        conditions &= Q(actor__username=wanted["person"])
    if wanted["kind"]:
        conditions &= Q(content_type=wanted["kind"])
    if wanted["event"]:
        # Compare as text, because the index contains text.
        records = records.alias(event=KT("additional_data__event"))
        conditions &= Q(event=wanted["event"])
    if wanted["day"]:
        conditions &= Q(timestamp__range=_moments_of(wanted["day"]))
    if wanted["number"] is not None:
        conditions &= Q(object_id=wanted["number"])
    return records.filter(conditions)


def shown_to(user: User, records: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
    """Return the records that the user may read. Only administrators may read records of accounts and erasures."""
    if user.has_perm(ADMINISTER):
        return records
    records = records.exclude(content_type__app_label__in=_ABOUT_PEOPLE)
    # Include records without an event, which are not erasures.
    told: QuerySet[LogEntry] = records.alias(erases=KT("additional_data__event"))
    return told.filter(Q(erases=None) | ~Q(erases__in=_ERASURES))


def recent_events(user: User) -> list[str]:
    """Return the events among the newest records that the user may read, as choices for the filter."""
    readable = shown_to(user, LogEntry.objects.all())
    newest = readable.order_by("-pk").values_list("additional_data__event", flat=True)
    return sorted({event for event in newest[:_RECENT] if event})


def _find_events(filters: AuditFilters) -> QuerySet[SecurityEvent]:
    """Return the security events that match the filters. A filter by kind or number matches no security event."""
    events = SecurityEvent.objects.exclude(kind__in=IN_AUDIT_LOG).select_related("user", "by")
    wanted = filters.cleaned_data
    if wanted["kind"] or wanted["number"] is not None:
        return events.none()
    if wanted["person"]:
        events = events.filter(by__username=wanted["person"])
    if wanted["event"]:
        labels = dict(SecurityEvent.Kind.choices)
        events = events.filter(kind__in=[k for k in labels if str(labels[k]) == wanted["event"]])
    if wanted["day"]:
        events = events.filter(at__range=_moments_of(wanted["day"]))
    return events


def _cells_of_event(event: SecurityEvent) -> tuple[str, ...]:
    unknown = f"unknown name {event.unknown_name}" if event.unknown_name else ""
    return (
        event.at.isoformat(timespec="seconds"),
        event.by.get_username() if event.by else "",
        str(event.get_kind_display()),
        "security",
        event.user.get_username() if event.user else unknown,
        str(event.user_id or ""),
        event.detail,
        event.request_id,
        event.address or "",
    )


def _cells(record: LogEntry) -> tuple[str, ...]:
    changes = cast(dict[str, list[str]], record.changes or {})
    data = cast(dict[str, str], record.additional_data or {})
    return (
        record.timestamp.isoformat(timespec="seconds"),
        record.actor.get_username() if record.actor else "",
        data.get("event", ""),
        record.content_type.model,
        record.object_repr,
        record.object_pk,
        "; ".join(f"{name}: {old} → {new}" for name, (old, new) in changes.items()),
        record.cid or "",
        record.remote_addr or "",
    )


def _moments_of(day: date) -> tuple[datetime, datetime]:
    """Return the first and the last moment of a day in the reader's time zone."""
    return start_of(day), start_of(day, later=1) - timedelta(microseconds=1)
