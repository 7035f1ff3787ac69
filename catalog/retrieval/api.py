"""The retrieval API."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import ASK_SCOPE
from catalog.retrieval.serializers import RetrievalSerializer, StatementInput
from catalog.retrieval.services import retrieve
from core.web.requests import read_body


class RetrieveViewSet(viewsets.ViewSet):
    """Retrieval of entries that answer a statement."""

    required_scope = ASK_SCOPE

    @extend_schema(request=StatementInput, responses={200: RetrievalSerializer})
    def create(self, request: Request) -> Response:
        """Return the verified entries that answer the statement, with reasons and differences."""
        body = read_body(StatementInput, request)
        found = retrieve(body["statement"], limit=body["limit"])
        return Response(RetrievalSerializer(found).data)
