"""The incident API: list, read, assign and comment. It calls the same services as the pages."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter

from core.web.requests import read_body, read_key, read_query, signed_in
from scriptsmith_site.integrations.alerts.access import access_incident, access_incidents
from scriptsmith_site.integrations.alerts.services import incident_page, incidents
from scriptsmith_site.models import Incident


class IncidentSerializer(serializers.Serializer[object]):
    """An incident with its labels, its state and its assignee."""

    id = serializers.IntegerField()
    source = serializers.CharField(source="source.name")  # type: ignore[assignment]
    state = serializers.ChoiceField(choices=Incident.State.choices)
    title = serializers.CharField()
    statement = serializers.CharField()
    severity = serializers.IntegerField(help_text="1 (critical) to 4 (low).")
    labels = serializers.DictField(child=serializers.CharField())
    annotations = serializers.DictField(child=serializers.CharField())
    link = serializers.CharField()
    runbook = serializers.CharField()
    firing = serializers.IntegerField(help_text="Number of alerts in the group that are firing.")
    truncated = serializers.IntegerField(
        help_text="Number of alerts that the sender omitted from its latest request."
    )
    opened_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    resolved_at = serializers.DateTimeField(allow_null=True)
    taken_by = serializers.CharField(source="taken_by.username", default=None)


class IncidentQuery(serializers.Serializer[object]):
    """Filters for the incident list."""

    q = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    state = serializers.ChoiceField(
        required=False, default="", allow_blank=True, choices=Incident.State.choices
    )
    severity = serializers.IntegerField(required=False, default=None, min_value=1, max_value=4)


class IncidentNoteInput(serializers.Serializer[object]):
    """A note for the timeline."""

    text = serializers.CharField(trim_whitespace=False)


class IncidentViewSet(viewsets.GenericViewSet[Incident]):
    """Incidents, newest first."""

    queryset = Incident.objects.none()
    required_scope = "ask"
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Incident]:
        return access_incidents(signed_in(self.request))

    @extend_schema(
        responses=IncidentSerializer(many=True),
        parameters=[
            OpenApiParameter("q", str, description="Words in the title, request text or source."),
            OpenApiParameter("state", str, enum=["open", "resolved"]),
            OpenApiParameter(
                "severity",
                {"type": "integer", "minimum": 1, "maximum": 4},
                description="Lowest severity to include; 1 is critical.",
            ),
        ],
    )
    def list(self, request: Request) -> Response:
        """List incidents, filtered by state, severity and search text."""
        found = self.get_queryset()
        asked = read_query(IncidentQuery, request)
        rows = incident_page.search(
            found, words=asked["q"], state=asked["state"], severity=asked["severity"]
        )
        page = self.paginate_queryset(rows) or []
        return self.get_paginated_response(IncidentSerializer(page, many=True).data)

    @extend_schema(responses=IncidentSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return one incident. To find matching scripts, POST its statement to /retrieve/."""
        return Response(IncidentSerializer(self._incident(request, pk)).data)

    @extend_schema(request=None, responses=IncidentSerializer)
    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str) -> Response:
        """Assign the incident to yourself."""
        incident = self._incident(request, pk)
        incidents.take(incident, by=signed_in(request))
        return Response(IncidentSerializer(incident).data)

    @extend_schema(request=IncidentNoteInput, responses=IncidentSerializer)
    @action(detail=True, methods=["post"])
    def note(self, request: Request, pk: str) -> Response:
        """Add a note to the timeline."""
        incident = self._incident(request, pk)
        incidents.add_note(
            incident, by=signed_in(request), text=read_body(IncidentNoteInput, request)["text"]
        )
        return Response(IncidentSerializer(incident).data)

    def _incident(self, request: Request, pk: str) -> Incident:
        return access_incident(signed_in(request), read_key(pk))


router = DefaultRouter()
router.register("incidents", IncidentViewSet, basename="incident")
