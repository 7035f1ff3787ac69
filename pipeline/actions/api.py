"""The API for actions: list, read, request and compare. It uses the same services as the pages."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from core.web.requests import read_body, read_key, signed_in
from pipeline.access import (
    access_action,
    access_actions,
    require_asker,
)
from pipeline.actions import services
from pipeline.actions.filters import ActionFilter
from pipeline.actions.list_rows import action_rows
from pipeline.actions.serializers import ActionSerializer, AskInput
from pipeline.configurations.services import find_configuration
from pipeline.models import Action
from pipeline.runs.answers import note_seen
from pipeline.runs.comparison.run_comparison import compare_runs
from pipeline.runs.comparison.serializers import ComparisonSerializer, describe_comparison
from pipeline.types import MASK_STORED, SecretsChoice

ASK = "ask"


class ActionViewSet(viewsets.GenericViewSet[Action]):
    """Requests for scripts, newest first."""

    filterset_class = ActionFilter
    queryset = Action.objects.none()
    required_scope = ASK

    def get_queryset(self) -> QuerySet[Action]:
        return access_actions(signed_in(self.request))

    @extend_schema(responses=ActionSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Return actions, each with its newest run. `state` and `verdict` filter by the newest run."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset()))
        rows = action_rows(page or [], signed_in(request))
        return self.get_paginated_response(ActionSerializer(rows, many=True).data)

    @extend_schema(responses=ActionSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return one action with its newest run. GET /runs/?action=ID lists all its runs."""
        user = signed_in(request)
        (row,) = action_rows([access_action(user, read_key(pk))], user)
        if row.newest and row.answer:
            # As on the page, an answer that an API client has read counts as seen.
            note_seen(row.newest.run, row.answer, by=user)
        return Response(ActionSerializer(row).data)

    @extend_schema(
        request=AskInput,
        responses={201: ActionSerializer},
        parameters=[
            OpenApiParameter(
                "Idempotency-Key",
                str,
                OpenApiParameter.HEADER,
                description="Within 24 hours, a request with the same key and body gets the first response again.",
            )
        ],
    )
    def create(self, request: Request) -> Response:
        """Request a script. A run starts immediately unless `run` is false."""
        user = signed_in(request)
        require_asker(user)
        details = read_body(AskInput, request)
        if (key := request.headers.get("Idempotency-Key")) is None:
            return Response(self._ask(user, dict(details))[1], status=status.HTTP_201_CREATED)
        first = services.answer_once(key, details, lambda: self._ask(user, dict(details)), by=user)
        return Response(first, status=status.HTTP_201_CREATED)

    def _ask(self, user: User, details: dict[str, Any]) -> tuple[Action, dict[str, object]]:
        """Store the request, start its run, and describe both."""
        statement, name = details.pop("statement"), details.pop("configuration", "")
        secrets = details.pop("secrets")
        details["masks_stored"] = secrets == MASK_STORED
        secrets = SecretsChoice.MASK if details["masks_stored"] else SecretsChoice(secrets)
        if not details.pop("run"):
            asked = services.ask(statement, by=user, **details)
        else:
            chosen = find_configuration(name) if name else None
            asked = services.ask_and_run(
                statement, by=user, configuration=chosen, secrets=secrets, **details
            ).action
        (row,) = action_rows([asked], user)
        # Parse the rendered JSON, so that a stored response has the same format.
        return asked, json.loads(JSONRenderer().render(ActionSerializer(row).data))

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "run", int, many=True, required=True, description="Two to four run IDs."
            ),
            OpenApiParameter(
                "of", str, enum=["recommended", "first"], description="The drafts to compare."
            ),
        ],
        responses=ComparisonSerializer,
    )
    @action(detail=True)
    def compare(self, request: Request, pk: str) -> Response:
        """Compare the settings and results of multiple runs of this action."""
        user = signed_in(request)
        found = compare_runs(
            access_action(user, read_key(pk)),
            [read_key(text) for text in request.query_params.getlist("run")],
            by=user,
            of_first=request.query_params.get("of") == "first",
        )
        return Response(describe_comparison(found))
