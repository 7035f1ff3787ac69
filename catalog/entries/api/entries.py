"""The API for single entries."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import CURATE, CURATE_SCOPE, access_entries, access_entry, require
from catalog.entries import services
from catalog.entries.api.responses import (
    changed_entry_response,
    changed_version_response,
    entry_response,
)
from catalog.entries.serializers import EntrySerializer, ReasonInput, VersionSerializer
from catalog.models import Entry, VersionEvent
from catalog.version_details import VersionDetails
from core.web.requests import read_body, signed_in


class EntryInput(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=300)
    script = serializers.CharField(trim_whitespace=False)
    phrasings = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    details = serializers.DictField(required=False, default=dict)


class TitleInput(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=300)
    seen = serializers.CharField(required=False, allow_blank=True, default="")


class PhrasingInput(serializers.Serializer[Any]):
    text = serializers.CharField()


class LiftInput(serializers.Serializer[Any]):
    note = serializers.CharField()


class EventOutput(serializers.ModelSerializer[VersionEvent]):
    version = serializers.IntegerField(source="version.number")
    old = serializers.CharField()
    new = serializers.CharField()
    by = serializers.CharField(source="by.username", default=None)

    class Meta:
        model = VersionEvent
        fields = ("version", "old", "new", "by", "at", "note")


class EntryViewSet(viewsets.GenericViewSet[Entry]):
    """Entries and curator actions."""

    serializer_class = EntrySerializer
    lookup_field = "slug"
    required_scope = CURATE_SCOPE
    queryset = Entry.objects.none()

    def get_queryset(self) -> QuerySet[Entry]:
        return access_entries(self.request.user)

    @extend_schema(responses=EntrySerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """Return an entry with its phrasings and all its versions."""
        return entry_response(request.user, access_entry(request.user, slug))

    @extend_schema(request=EntryInput, responses={201: VersionSerializer})
    def create(self, request: Request) -> Response:
        """Create an entry with a draft as its first version."""
        require(signed_in(request), CURATE)
        said = read_body(EntryInput, request)
        version = services.create_entry(
            said["title"],
            script=said["script"],
            phrasings=said["phrasings"],
            details=VersionDetails.read(said["details"]),
            by=signed_in(request),
        )
        return changed_version_response(version, status=201)

    @extend_schema(responses=EventOutput(many=True))
    @action(detail=True, pagination_class=None, filter_backends=[])
    def history(self, request: Request, slug: str) -> Response:
        """Return the state changes of the entry's versions, newest first."""
        entry = access_entry(request.user, slug)
        events = VersionEvent.objects.filter(version__entry=entry).select_related("version", "by")
        return Response(EventOutput(events.order_by("-pk"), many=True).data)

    @extend_schema(request=ReasonInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def suspend(self, request: Request, slug: str) -> Response:
        """Suspend the entry. The entry is not used until a curator lifts the suspension."""
        entry = _entry(request, slug)
        services.suspend(entry, by=signed_in(request), **read_body(ReasonInput, request))
        return changed_entry_response(request.user, slug)

    @extend_schema(request=LiftInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def lift(self, request: Request, slug: str) -> Response:
        """Lift the suspension. The note describes the result of the investigation."""
        entry = _entry(request, slug)
        services.lift_suspension(entry, by=signed_in(request), **read_body(LiftInput, request))
        return changed_entry_response(request.user, slug)

    @extend_schema(request=TitleInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def rename(self, request: Request, slug: str) -> Response:
        """Change the title of the entry. The entry's URL stays the same."""
        entry = _entry(request, slug)
        services.rename(entry, by=signed_in(request), **read_body(TitleInput, request))
        return changed_entry_response(request.user, slug)

    @extend_schema(request=PhrasingInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def phrasings(self, request: Request, slug: str) -> Response:
        """Add a phrasing."""
        entry = _entry(request, slug)
        text = read_body(PhrasingInput, request)["text"]
        services.add_phrasing(entry, text=text, by=signed_in(request))
        return changed_entry_response(request.user, slug)

    @extend_schema(request={"application/json": PhrasingInput}, responses={200: EntrySerializer})
    @phrasings.mapping.delete
    def remove_phrasing(self, request: Request, slug: str) -> Response:
        """Remove a phrasing."""
        entry = _entry(request, slug)
        text = read_body(PhrasingInput, request)["text"]
        phrasing = get_object_or_404(entry.phrasings.defer("document"), text=text)
        services.remove_phrasing(phrasing, by=signed_in(request))
        return changed_entry_response(request.user, slug)

    @extend_schema(request=PhrasingInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"], url_path="phrasings/confirm")
    def confirm_phrasing(self, request: Request, slug: str) -> Response:
        """Confirm a phrasing that another user added."""
        entry = _entry(request, slug)
        text = read_body(PhrasingInput, request)["text"]
        phrasing = get_object_or_404(entry.phrasings.defer("document"), text=text)
        services.confirm_phrasing(phrasing, by=signed_in(request))
        return changed_entry_response(request.user, slug)


def _entry(request: Request, slug: str) -> Entry:
    return access_entry(request.user, slug, to_curate=True)
