"""API for imports and exports, based on the same services as the pages and commands."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import FileResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import BadInput
from core.web.parsers import JSONParser, MultiPartParser
from core.web.requests import read_body, read_key, signed_in
from review.access import access_campaigns, access_transfer
from review.exchange import services
from review.exchange.exporting.exporter import Layout
from review.exchange.source import Format
from review.models import Campaign, Transfer, TransferLine


class TransferOut(serializers.ModelSerializer[Transfer]):
    """The progress and the result of a transfer."""

    campaign = serializers.CharField(source="campaign.name")
    read_bytes = serializers.IntegerField(source="done_bytes")

    class Meta:
        model = Transfer
        fields = [
            *("id", "campaign", "kind", "state", "filename", "format", "mapping"),
            *("total_bytes", "read_bytes", "rows", "kept", "unchanged", "refused", "problem"),
            *("created_at", "ended_at", "expires_at"),
        ]


class LineOut(serializers.ModelSerializer[TransferLine]):
    class Meta:
        model = TransferLine
        fields = ["line", "external_id", "column", "reason"]


class ImportIn(serializers.Serializer[Any]):
    campaign = serializers.CharField(
        max_length=150,
        help_text="Name of the study. An import of items creates the study if it does not exist.",
    )
    kind = serializers.ChoiceField(choices=["items", "scores"])
    file = serializers.FileField(allow_empty_file=True)
    mapping = serializers.JSONField(
        default=dict,
        help_text='ScriptSmith column names mapped to column names in the file, such as {"statement": "query"}.',
    )
    format = serializers.ChoiceField(choices=list(Format), default="", allow_blank=True)


class ExportIn(serializers.Serializer[Any]):
    campaign = serializers.CharField(max_length=150)
    layout = serializers.ChoiceField(choices=list(Layout), default=Layout.JSONL.value)


class TransferViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Transfer]
):
    """Imports and exports, for managers. Transfers run in the background. Poll a transfer until it has ended."""

    serializer_class: type[serializers.BaseSerializer[Any]] = TransferOut
    queryset = Transfer.objects.none()
    filterset_fields = ["campaign", "kind", "state"]
    parser_classes = [MultiPartParser, JSONParser]
    required_scope = "manage"
    lookup_value_regex = "[0-9]+"

    def get_queryset(self) -> QuerySet[Transfer]:
        campaigns = access_campaigns(signed_in(self.request))
        return Transfer.objects.filter(campaign__in=campaigns).select_related("campaign")

    @extend_schema(request={"multipart/form-data": ImportIn}, responses={202: TransferOut})
    @action(detail=False, methods=["post"], url_path="import")
    def begin_import(self, request: Request) -> Response:
        "Import a file. Valid rows are imported. Invalid rows are listed by line number."
        user = signed_in(request)
        access_campaigns(user)
        given = read_body(ImportIn, request)
        mapping = given["mapping"]
        if not isinstance(mapping, dict) or not all(
            isinstance(one, str) for one in mapping.values()
        ):
            raise BadInput(_("Enter an object that maps column names."), field="mapping")
        with transaction.atomic():
            campaign = services.find_campaign(given["campaign"])
            if campaign is None and given["kind"] == Transfer.Kind.ITEMS:
                campaign, _is_new = services.find_or_create_campaign(given["campaign"], by=user)
            transfer = services.begin_import(
                _there(campaign),
                given["kind"],
                given["file"],
                mapping=mapping,
                format=given["format"],
                by=user,
            )
        return Response(TransferOut(transfer).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=ExportIn, responses={202: TransferOut})
    @action(detail=False, methods=["post"], url_path="export")
    def begin_export(self, request: Request) -> Response:
        """Export a campaign to a file, which can be downloaded from `file` within a day."""
        user = signed_in(request)
        access_campaigns(user)
        given = read_body(ExportIn, request)
        campaign = _there(services.find_campaign(given["campaign"]))
        transfer = services.begin_export(campaign, layout=given["layout"], by=user)
        return Response(TransferOut(transfer).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses=TransferOut)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel the transfer. Imported rows are kept."""
        user = signed_in(request)
        services.cancel_transfer(access_transfer(user, read_key(pk)), by=user)
        return Response(TransferOut(access_transfer(user, read_key(pk))).data)

    @extend_schema(responses=LineOut(many=True))
    @action(detail=True, filterset_fields=[], pagination_class=None)
    def lines(self, request: Request, pk: str) -> Response:
        """Return the lines that were rejected or only partly imported."""
        transfer = access_transfer(signed_in(request), read_key(pk))
        return Response(LineOut(transfer.lines.all(), many=True).data)

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def file(self, request: Request, pk: str) -> FileResponse:
        """Download the export before it expires."""
        user = signed_in(request)
        transfer = access_transfer(user, read_key(pk))
        file = services.open_export(transfer, by=user)
        return FileResponse(file, as_attachment=True, filename=transfer.filename)


def _there(campaign: Campaign | None) -> Campaign:
    if campaign is None:
        raise BadInput(_("No study with this name exists."), field="campaign")
    return campaign
