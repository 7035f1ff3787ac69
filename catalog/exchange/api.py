"""The API for imports and exports. The API uses the same services as the pages."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import CURATE_SCOPE, access_entries, access_import, access_imports
from catalog.exchange.formats import CONTENT_TYPES, Format
from catalog.exchange.forms import ExportForm
from catalog.exchange.services import import_jobs
from catalog.exchange.views import export_response
from catalog.models import Job
from core.errors import BadInput
from core.web.parsers import JSONParser, MultiPartParser
from core.web.requests import read_body, read_key, signed_in


class ImportOut(serializers.ModelSerializer[Job]):
    """An import or its preview. `report` contains the totals and all rows that are not `unchanged`."""

    dry_run = serializers.BooleanField(source="arguments.dry_run")

    class Meta:
        model = Job
        fields = ("id", "state", "dry_run", "filename", "done", "report", "trouble", "created_at")


class CatalogueImportIn(serializers.Serializer[Any]):
    file = serializers.FileField(allow_empty_file=True)
    state = serializers.ChoiceField(
        choices=[one.value for one in import_jobs.STATES], default=import_jobs.STATES[0].value
    )
    format = serializers.ChoiceField(choices=list(Format), default="", allow_blank=True)


class CatalogImportViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Job]
):
    """Imports of entries, for curators. Upload a file to preview it, then call `start` to import it."""

    serializer_class = ImportOut
    queryset = Job.objects.none()
    parser_classes = [MultiPartParser, JSONParser]
    required_scope = CURATE_SCOPE
    lookup_value_regex = "[0-9]+"

    def get_queryset(self) -> QuerySet[Job]:
        return access_imports(self.request.user)

    @extend_schema(request={"multipart/form-data": CatalogueImportIn}, responses={202: ImportOut})
    def create(self, request: Request) -> Response:
        """Preview the result of each row of a file, without changing entries. Poll the returned import until the
        preview is done.
        """
        access_imports(request.user)
        data = read_body(CatalogueImportIn, request)
        job = import_jobs.preview_import(
            data["file"], by=signed_in(request), state=data["state"], format=data["format"]
        )
        return Response(ImportOut(job).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses={202: ImportOut})
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str) -> Response:
        """Import the previewed file. Valid rows are stored, and invalid rows are reported."""
        preview = access_import(request.user, read_key(pk))
        job = import_jobs.start_import(preview, by=signed_in(request))
        return Response(ImportOut(job).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=None, responses=ImportOut)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel the import, but keep the rows imported so far."""
        job = access_import(request.user, read_key(pk))
        import_jobs.cancel_import(job, by=signed_in(request))
        return Response(ImportOut(access_import(request.user, job.pk)).data)


class CatalogExportViewSet(viewsets.ViewSet):
    """Exports of the catalogue as a file."""

    @extend_schema(
        parameters=[
            OpenApiParameter("layout", str, enum=[one.value for one in Format]),
            OpenApiParameter(
                "state", str, description="Export only the newest version in this state."
            ),
        ],
        responses={
            (200, *(one.partition(";")[0] for one in CONTENT_TYPES.values())): OpenApiTypes.BINARY
        },
    )
    def list(self, request: Request) -> StreamingHttpResponse:
        """Return the entries with their versions as JSONL, CSV or .zip. All formats can be imported again."""
        access_entries(request.user)
        layout = request.query_params.get("layout", Format.JSONL.value)
        form = ExportForm({**request.query_params.dict(), "layout": layout})
        if not form.is_valid():
            field, errors = next(iter(form.errors.items()))
            raise BadInput(str(errors[0]), field=field)
        return export_response(form.cleaned_data["layout"], form.cleaned_data["state"])
