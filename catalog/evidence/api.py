"""The API for entries' sandbox tests and results. The API uses the same services as the pages."""

from __future__ import annotations

import json
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import access_entry, access_version, access_versions
from catalog.evidence import services
from catalog.evidence.services.summaries import SetRow
from catalog.models import CaseRun, CheckResult, Entry, EntryCases, Execution, Version
from core.errors import BadInput, NotAllowedNow
from core.web.requests import read_body, read_key, signed_in


class CheckOutput(serializers.ModelSerializer[CheckResult]):
    case = serializers.CharField(source="case_title")

    class Meta:
        model = CheckResult
        fields = ("case", "sentence", "state", "got")


class ExecutionOutput(serializers.ModelSerializer[Execution]):
    """The results of one script for one test suite on one kind of machine."""

    checks = CheckOutput(many=True)
    sentence = serializers.CharField(source="document.sentence", default="")
    worlds_seen = serializers.ListField(source="document.worlds", default=list)
    quality = serializers.DictField(source="document.quality", allow_null=True, default=None)
    state = serializers.CharField()

    class Meta:
        model = Execution
        fields = (
            "id", "script_sha256", "state", "reason", "passed", "failed", "others", "worlds", "small_errors",
            "noticed", "quality_at", "sentence", "fingerprint", "first_at", "last_at", "times", "seconds", "checks",
            "worlds_seen", "quality", "is_shipped",
        )  # fmt: skip


class CasesOutput(serializers.Serializer[Any]):
    """A test suite of an entry, with the results of one version."""

    id = serializers.IntegerField(source="kept.pk")
    sha256 = serializers.CharField(source="case_set.sha256")
    author_kind = serializers.CharField(source="case_set.author_kind")
    author = serializers.CharField(source="case_set.author_name")
    added_at = serializers.DateTimeField(source="kept.added_at")
    is_under_way = serializers.SerializerMethodField()
    content = serializers.JSONField(source="case_set.content")
    execution = ExecutionOutput(allow_null=True)

    def get_is_under_way(self, row: SetRow) -> bool:
        return row.under_way is not None


class CasesInput(serializers.Serializer[Any]):
    cases = serializers.DictField(
        help_text="A test suite. See docs/case-format.schema.json for the format."
    )
    replaces = serializers.IntegerField(
        required=False, allow_null=True, default=None, help_text="ID of the test suite to replace."
    )


class RequestedOutput(serializers.Serializer[Any]):
    requested = serializers.IntegerField(help_text="Number of test suites that will run.")


class EntryCasesViewSet(viewsets.GenericViewSet[Entry]):
    """The test suites of an entry."""

    @extend_schema(methods=["GET"], responses=CasesOutput(many=True))
    @extend_schema(methods=["POST"], request=CasesInput, responses={201: CasesOutput})
    @action(detail=True, methods=["get", "post"], pagination_class=None)
    def cases(self, request: Request, slug: str) -> Response:
        """List the test suites of an entry with the results of its live script, or add a test suite."""
        if request.method == "POST":
            return self._add(request, slug)
        entry = access_entry(request.user, slug)
        return Response(CasesOutput(_rows(request, entry), many=True).data)

    @extend_schema(responses={204: OpenApiResponse(description="Removed.")})
    @action(detail=True, methods=["delete"], url_path=r"cases/(?P<number>\d+)")
    def remove_cases(self, request: Request, slug: str, number: str) -> Response:
        """Remove a test suite from the entry."""
        entry = access_entry(request.user, slug, to_curate=True)
        services.remove_cases(_kept(entry, read_key(number)), by=signed_in(request))
        return Response(status=204)

    def _add(self, request: Request, slug: str) -> Response:
        entry = access_entry(request.user, slug, to_curate=True)
        said = read_body(CasesInput, request)
        replaces = None if said["replaces"] is None else _kept(entry, said["replaces"])
        try:
            text = json.dumps(said["cases"])
        except ValueError as error:
            raise BadInput(str(error), field="cases") from error
        kept = services.add_cases(entry, text, by=signed_in(request), replaces=replaces)
        row = next(row for row in _rows(request, entry) if row.kept.pk == kept.pk)
        return Response(CasesOutput(row).data, status=201)


class VersionCasesViewSet(viewsets.GenericViewSet[Version]):
    """Runs of an entry's sandbox tests with one of its versions."""

    @extend_schema(request=None, responses={202: RequestedOutput})
    @action(detail=True, methods=["post"], url_path="run-cases")
    def run_cases(self, request: Request, pk: str) -> Response:
        """Request a run of all sandbox tests of the entry. The results then appear in the entry's test suites."""
        version = access_version(request.user, read_key(pk), to_curate=True)
        runs = services.request_runs(version, purpose=CaseRun.Purpose.ASKED, by=signed_in(request))
        if not runs:
            raise NotAllowedNow("This entry has no sandbox tests yet.")
        return Response({"requested": len(runs)}, status=202)


def _rows(request: Request, entry: Entry) -> list[SetRow]:
    versions = list(access_versions(request.user).filter(entry=entry))
    verified = [version for version in versions if version.state == Version.State.VERIFIED]
    version = (verified or versions)[0]
    return list(services.evidence_of(entry, version, with_checks=True).sets)


def _kept(entry: Entry, pk: int) -> EntryCases:
    rows = EntryCases.objects.select_related("entry", "case_set").defer("entry__document")
    return get_object_or_404(rows, pk=pk, entry=entry, removed_at=None)
