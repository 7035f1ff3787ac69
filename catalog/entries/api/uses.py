"""The API for script uses."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import ASK_SCOPE, access_use
from catalog.entries import services
from catalog.entries.serializers import OutcomeInput, RatedSerializer, UseSerializer
from catalog.models import Use
from core.web.requests import read_body, read_key, signed_in


class UseViewSet(viewsets.GenericViewSet[Use]):
    """The user's own uses of scripts."""

    serializer_class = UseSerializer
    required_scope = ASK_SCOPE
    queryset = Use.objects.none()

    def retrieve(self, request: Request, pk: str) -> Response:
        """Return a use with its parameter values and outcome."""
        return Response(UseSerializer(access_use(request.user, read_key(pk))).data)

    @extend_schema(request=OutcomeInput, responses=RatedSerializer)
    @action(detail=True, methods=["post"])
    def outcome(self, request: Request, pk: str) -> Response:
        """Report the outcome. `worse` requires an incident and suspends the entry."""
        use = access_use(request.user, read_key(pk))
        body = read_body(OutcomeInput, request)
        rated = services.record_outcome(use, by=signed_in(request), **body)
        return Response(RatedSerializer(rated).data)
