"""The API for versions: create the next version, and change a version's state."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import ASK_SCOPE, CURATE_SCOPE, access_version
from catalog.entries import services
from catalog.entries.api.responses import changed_version_response, version_response
from catalog.entries.serializers import (
    CopiedSerializer,
    NoteInput,
    ReasonInput,
    RollbackInput,
    UseInput,
    VerifyInput,
    VersionSerializer,
)
from catalog.models import Version
from catalog.version_details import VersionDetails
from core.actor import find_user
from core.errors import BadInput
from core.web.requests import read_body, read_key, signed_in


class EditInput(serializers.Serializer[Any]):
    script = serializers.CharField(trim_whitespace=False)
    details = serializers.DictField(
        required=False, default=dict, help_text="Omitted fields stay unchanged."
    )
    note = serializers.CharField(required=False, allow_blank=True, default="")


class LabelsInput(serializers.Serializer[Any]):
    tags = serializers.ListField(child=serializers.CharField())
    links = serializers.ListField(child=serializers.DictField(), required=False, default=list)
    owner = serializers.CharField(required=False, allow_blank=True, default="")


class VersionRequest(NamedTuple):
    """A user's request for a version, with the validated body."""

    version: Version
    by: User
    body: dict[str, object]


class VersionViewSet(viewsets.GenericViewSet[Version]):
    """A version and its state transitions, from draft to deprecated."""

    serializer_class = VersionSerializer
    required_scope = CURATE_SCOPE
    queryset = Version.objects.none()

    def retrieve(self, request: Request, pk: str) -> Response:
        """Return the version with its script, details and usage record."""
        return version_response(self._version(request, pk))

    @extend_schema(request=NoteInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> Response:
        """Submit the version for verification."""
        asked = self._read(request, pk, NoteInput, to_curate=True)
        services.submit_for_review(asked.version, by=asked.by, note=str(asked.body["note"]))
        return version_response(asked.version)

    @extend_schema(request=VerifyInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def verify(self, request: Request, pk: str) -> Response:
        """Verify the version. Authors can't verify their own versions."""
        asked = self._read(request, pk, VerifyInput, to_curate=True)
        wordings = cast("list[int]", asked.body["wordings"])
        note = str(asked.body["note"])
        services.verify(asked.version, by=asked.by, note=note, wordings=wordings)
        return version_response(asked.version)

    @extend_schema(request=VerifyInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"], url_path="verify-again")
    def verify_again(self, request: Request, pk: str) -> Response:
        """Verify a verified version again, with your name and today's date."""
        asked = self._read(request, pk, VerifyInput, to_curate=True)
        wordings = cast("list[int]", asked.body["wordings"])
        note = str(asked.body["note"])
        services.verify_again(asked.version, by=asked.by, note=note, wordings=wordings)
        return version_response(asked.version)

    @extend_schema(request=ReasonInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"], url_path="send-back")
    def send_back(self, request: Request, pk: str) -> Response:
        """Send the version back to draft, with a reason."""
        asked = self._read(request, pk, ReasonInput, to_curate=True)
        services.send_back(asked.version, by=asked.by, reason=str(asked.body["reason"]))
        return version_response(asked.version)

    @extend_schema(request=ReasonInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def deprecate(self, request: Request, pk: str) -> Response:
        """Deprecate the version, with a reason."""
        asked = self._read(request, pk, ReasonInput, to_curate=True)
        services.deprecate(asked.version, by=asked.by, reason=str(asked.body["reason"]))
        return version_response(asked.version)

    @extend_schema(request=RollbackInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"], url_path="roll-back")
    def roll_back(self, request: Request, pk: str) -> Response:
        """Make a former version live again, with four-eyes approval or as an emergency."""
        asked = self._read(request, pk, RollbackInput, to_curate=True)
        services.roll_back(
            asked.version,
            by=asked.by,
            reason=str(asked.body["reason"]),
            emergency=bool(asked.body["emergency"]),
            lift=bool(asked.body["lift"]),
            seen=str(asked.body["seen"]),
        )
        return changed_version_response(asked.version)

    @extend_schema(request=UseInput, responses={201: CopiedSerializer})
    @action(detail=True, methods=["post"], required_scope=ASK_SCOPE)
    def use(self, request: Request, pk: str) -> Response:
        """Record a use and return the exact filled-in script."""
        asked = self._read(request, pk, UseInput)
        copied = services.record_use(
            asked.version,
            by=asked.by,
            values=cast("dict[str, str]", asked.body["values"]),
            reason=str(asked.body["reason"]),
        )
        return Response(CopiedSerializer(copied).data, status=201)

    @extend_schema(request=EditInput, responses={201: VersionSerializer})
    @action(detail=True, methods=["post"])
    def edit(self, request: Request, pk: str) -> Response:
        """Create the next version as a draft based on the newest version."""
        version = self._version(request, pk, to_curate=True)
        said = read_body(EditInput, request)
        known = services.details_of(version).model_dump()
        made = services.edit_version(
            version,
            script=said["script"],
            details=VersionDetails.read({**known, **said["details"]}),
            by=signed_in(request),
            note=said["note"],
        )
        return changed_version_response(made, status=201)

    @extend_schema(request=None, responses={201: VersionSerializer})
    @action(detail=True, methods=["post"])
    def revert(self, request: Request, pk: str) -> Response:
        """Create the next version as a draft with this version's script and details."""
        made = services.revert_to(self._version(request, pk, to_curate=True), by=signed_in(request))
        return changed_version_response(made, status=201)

    @extend_schema(request=LabelsInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def labels(self, request: Request, pk: str) -> Response:
        """Change the version's tags, links and owner."""
        version = self._version(request, pk, to_curate=True)
        said = read_body(LabelsInput, request)
        owner = find_user(said["owner"], User.objects.filter(is_active=True))
        if said["owner"] and owner is None:
            raise BadInput("No active user has this username.", field="owner")
        services.set_details(
            version, by=signed_in(request), tags=said["tags"], links=said["links"], owner=owner
        )
        return changed_version_response(version)

    def _version(self, request: Request, pk: str, *, to_curate: bool = False) -> Version:
        return access_version(request.user, read_key(pk), to_curate=to_curate)

    def _read(
        self,
        request: Request,
        pk: str,
        serializer: type[serializers.Serializer[object]],
        *,
        to_curate: bool = False,
    ) -> VersionRequest:
        version = self._version(request, pk, to_curate=to_curate)
        return VersionRequest(version, signed_in(request), read_body(serializer, request))
