"""The audit log: who changed what, from what to what. Looked at and exported, never changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from typing import cast

from auditlog.models import LogEntry
from django import forms
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Q, QuerySet
from django.db.models.fields.json import KT
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from catalog.web import csv_lines, page_of, signed_in
from scriptsmith_site.people.roles import ADMINISTER
from scriptsmith_site.people.services import require_administrator, require_reader_of_audit_log

COLUMNS = ("time", "person", "event", "kind", "object", "number", "changes", "request", "address")
# Apps whose records are about people and their accounts, and events that erase: for administrators alone.
_ABOUT_PEOPLE = ("auth", "scriptsmith_site")
_ERASURES = ("texts erased", "anonymised")
_RECENT = 1000  # records whose events are offered in the filter


class AuditFilters(forms.Form):
    person = forms.CharField(label=_("Person"), required=False, max_length=150)
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
    """All records that the filters let through, newest first, as CSV; times in UTC."""
    require_administrator(signed_in(request))
    filters = AuditFilters(request.GET)
    if not filters.is_valid():
        return show_audit_log(request)
    rows = find_records(filters).order_by("-pk").iterator(chunk_size=1000)
    return StreamingHttpResponse(
        csv_lines(_table(rows)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="audit-log.csv"'},
    )


def find_records(filters: AuditFilters) -> QuerySet[LogEntry]:
    """The records that the filters let through; none where a filter can't be read."""
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
        # As text, which is what the index holds.
        records = records.alias(event=KT("additional_data__event"))
        conditions &= Q(event=wanted["event"])
    if wanted["day"]:
        conditions &= Q(timestamp__range=_moments_of(wanted["day"]))
    if wanted["number"] is not None:
        conditions &= Q(object_id=wanted["number"])
    return records.filter(conditions)


def shown_to(user: User, records: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
    """Of these records, those that the person may read: who is no administrator, none about people and erasures."""
    if user.has_perm(ADMINISTER):
        return records
    records = records.exclude(content_type__app_label__in=_ABOUT_PEOPLE)
    # An event that is missing is no erasure.
    told: QuerySet[LogEntry] = records.alias(erases=KT("additional_data__event"))
    return told.filter(Q(erases=None) | ~Q(erases__in=_ERASURES))


def recent_events(user: User) -> list[str]:
    """The events among the newest records that the person may read, to choose from."""
    readable = shown_to(user, LogEntry.objects.all())
    newest = readable.order_by("-pk").values_list("additional_data__event", flat=True)
    return sorted({event for event in newest[:_RECENT] if event})


def _table(records: Iterable[LogEntry]) -> Iterator[tuple[str, ...]]:
    yield COLUMNS
    for record in records:
        yield _cells(record)


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
    """From the first to the last moment of a day in the reader's time zone."""
    start = timezone.make_aware(datetime.combine(day, time.min))
    end = timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))
    return start, end - timedelta(microseconds=1)
