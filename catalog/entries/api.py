"""The catalogue's API: the same services as the pages."""

from __future__ import annotations

from typing import NamedTuple, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from catalog import services
from catalog.access import access_entries, access_entry, access_use, access_version, access_versions
from catalog.calibration.api import (
    CalibrationViewSet,
    MatchLabelViewSet,
    ScoringViewSet,
    ThresholdViewSet,
)
from catalog.curation.api import DuplicateViewSet, EntryDeeds, MergeViewSet, VersionDeeds
from catalog.entries.forms import AGE_CHOICES, USE_CHOICES
from catalog.entries.serializers import (
    CopiedSerializer,
    EntrySerializer,
    ListedSerializer,
    NoteInput,
    OutcomeInput,
    RatedSerializer,
    ReasonInput,
    RetrievalSerializer,
    StatementInput,
    TagSerializer,
    UseInput,
    UseSerializer,
    VerifyInput,
    VersionSerializer,
)
from catalog.exchange.api import CatalogExportViewSet, CatalogImportViewSet
from catalog.listing.services.filters import MERGED, SUSPENDED, Filters
from catalog.models import Entry, Tag, Use, Version
from catalog.retrieval.answers import retrieve
from core.web.requests import read_body, read_key, signed_in

CURATE = "curate"
ASK = "ask"


class EntryFilter(filters.FilterSet):  # type: ignore[misc]
    """The filters of the list page; all of them are about one version."""

    state = filters.ChoiceFilter(
        choices=[*Version.State.choices, (SUSPENDED, "Suspended"), (MERGED, "Merged")]
    )
    risk = filters.ChoiceFilter(choices=Version.Risk.choices)
    side_effect = filters.ChoiceFilter(choices=Version.SideEffect.choices)
    tag = filters.CharFilter()
    owner = filters.CharFilter()
    age = filters.ChoiceFilter(choices=AGE_CHOICES)
    use = filters.ChoiceFilter(choices=USE_CHOICES)

    def filter_queryset(self, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        return services.list_entries(self.chosen(), among=queryset)

    def chosen(self) -> Filters:
        """The filters as the services take them."""
        return Filters(**{name: value or "" for name, value in self.form.cleaned_data.items()})


class EntryViewSet(EntryDeeds):
    """Entries: newest first, or by `q` those that fit it best."""

    serializer_class = EntrySerializer
    filterset_class = EntryFilter
    lookup_field = "slug"
    queryset = Entry.objects.none()

    def get_queryset(self) -> QuerySet[Entry]:
        return access_entries(self.request.user)

    @extend_schema(
        parameters=[OpenApiParameter("q", str, description="What should be done.")],
        responses=ListedSerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        """Entries with the version that stands for each: the verified one, else the newest."""
        chosen = EntryFilter(request.query_params, queryset=Entry.objects.none())
        query = request.query_params.get("q", "")
        queryset = self.filter_queryset(self.get_queryset())
        narrowed = chosen.chosen() if chosen.is_valid() else Filters()
        if query:
            found = services.search_entries(query, filters=narrowed)
            rows = services.rows_of(found.entries, narrowed)
            results = ListedSerializer(rows, many=True).data
            return Response({"next": None, "previous": None, "results": results})
        page = self.paginate_queryset(queryset)
        rows = services.rows_of(page or [], narrowed)
        return self.get_paginated_response(ListedSerializer(rows, many=True).data)

    @extend_schema(responses=EntrySerializer)
    def retrieve(self, request: Request, slug: str) -> Response:
        """One entry with its phrasings and all its versions."""
        entry = access_entry(request.user, slug)
        versions = list(access_versions(request.user).filter(entry=entry))
        records = services.track_records([version.pk for version in versions])
        context = {"versions": versions, "records": records}
        return Response(EntrySerializer(entry, context=context).data)


class Asked(NamedTuple):
    """Who asks for what: a version and the checked body."""

    version: Version
    by: User
    body: dict[str, object]


class VersionViewSet(VersionDeeds):
    """One version, and its way from draft to verified and out of use."""

    serializer_class = VersionSerializer
    required_scope = CURATE
    queryset = Version.objects.none()

    def retrieve(self, request: Request, pk: str) -> Response:
        """The script with all that is known about it."""
        return self._answer(self._version(request, pk))

    @extend_schema(request=NoteInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> Response:
        """Let it wait for somebody to verify it."""
        asked = self._read(request, pk, NoteInput, to_curate=True)
        services.submit_for_review(asked.version, by=asked.by, note=str(asked.body["note"]))
        return self._answer(asked.version)

    @extend_schema(request=VerifyInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def verify(self, request: Request, pk: str) -> Response:
        """Vouch for it; who wrote it can't."""
        asked = self._read(request, pk, VerifyInput, to_curate=True)
        wordings = cast("list[int]", asked.body["wordings"])
        note = str(asked.body["note"])
        services.verify(asked.version, by=asked.by, note=note, wordings=wordings)
        return self._answer(asked.version)

    @extend_schema(request=VerifyInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"], url_path="verify-again")
    def verify_again(self, request: Request, pk: str) -> Response:
        """Put one's name and today's date to what is verified."""
        asked = self._read(request, pk, VerifyInput, to_curate=True)
        wordings = cast("list[int]", asked.body["wordings"])
        note = str(asked.body["note"])
        services.verify_again(asked.version, by=asked.by, note=note, wordings=wordings)
        return self._answer(asked.version)

    @extend_schema(request=ReasonInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"], url_path="send-back")
    def send_back(self, request: Request, pk: str) -> Response:
        """Make it a draft again, with a reason."""
        asked = self._read(request, pk, ReasonInput, to_curate=True)
        services.send_back(asked.version, by=asked.by, reason=str(asked.body["reason"]))
        return self._answer(asked.version)

    @extend_schema(request=ReasonInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def deprecate(self, request: Request, pk: str) -> Response:
        """Take it out of use, with a reason."""
        asked = self._read(request, pk, ReasonInput, to_curate=True)
        services.deprecate(asked.version, by=asked.by, reason=str(asked.body["reason"]))
        return self._answer(asked.version)

    @extend_schema(request=UseInput, responses={201: CopiedSerializer})
    @action(detail=True, methods=["post"], required_scope=ASK)
    def use(self, request: Request, pk: str) -> Response:
        """Record a use, and get the exact filled-in script."""
        asked = self._read(request, pk, UseInput)
        copied = services.record_use(
            asked.version,
            by=asked.by,
            values=cast("dict[str, str]", asked.body["values"]),
            reason=str(asked.body["reason"]),
        )
        return Response(CopiedSerializer(copied).data, status=201)

    def _version(self, request: Request, pk: str, *, to_curate: bool = False) -> Version:
        return access_version(request.user, read_key(pk), to_curate=to_curate)

    def _read(
        self,
        request: Request,
        pk: str,
        serializer: type[serializers.Serializer[object]],
        *,
        to_curate: bool = False,
    ) -> Asked:
        version = self._version(request, pk, to_curate=to_curate)
        return Asked(version, signed_in(request), read_body(serializer, request))

    def _answer(self, version: Version) -> Response:
        records = services.track_records([version.pk])
        return Response(VersionSerializer(version, context={"records": records}).data)


class UseViewSet(viewsets.GenericViewSet[Use]):
    """One's own uses of scripts."""

    serializer_class = UseSerializer
    required_scope = ASK
    queryset = Use.objects.none()

    def retrieve(self, request: Request, pk: str) -> Response:
        """What was taken, with which values, and how it went."""
        return Response(UseSerializer(access_use(request.user, read_key(pk))).data)

    @extend_schema(request=OutcomeInput, responses=RatedSerializer)
    @action(detail=True, methods=["post"])
    def outcome(self, request: Request, pk: str) -> Response:
        """Say how it went; `worse` needs an incident and suspends the entry."""
        use = access_use(request.user, read_key(pk))
        body = read_body(OutcomeInput, request)
        rated = services.record_outcome(use, by=signed_in(request), **body)
        return Response(RatedSerializer(rated).data)


class RetrieveViewSet(viewsets.ViewSet):
    """The answer of the catalogue to a statement."""

    required_scope = ASK

    @extend_schema(request=StatementInput, responses={200: RetrievalSerializer})
    def create(self, request: Request) -> Response:
        """The verified entries that answer the statement, with reasons and differences."""
        body = read_body(StatementInput, request)
        found = retrieve(body["statement"], limit=body["limit"])
        return Response(RetrievalSerializer(found).data)


class TagViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Tag]):
    """All tags."""

    serializer_class = TagSerializer
    queryset = Tag.objects.all()


router = SimpleRouter()
router.register("entries", EntryViewSet, basename="api-entry")
router.register("versions", VersionViewSet, basename="api-version")
router.register("uses", UseViewSet, basename="api-use")
router.register("retrieve", RetrieveViewSet, basename="api-retrieve")
router.register("catalogue-imports", CatalogImportViewSet, basename="api-catalogue-import")
router.register("catalogue-export", CatalogExportViewSet, basename="api-catalogue-export")
router.register("merges", MergeViewSet, basename="api-merge")
router.register("duplicates", DuplicateViewSet, basename="api-duplicate")
router.register("tags", TagViewSet, basename="api-tag")
router.register("calibration", CalibrationViewSet, basename="api-calibration")
router.register("thresholds", ThresholdViewSet, basename="api-threshold")
router.register("scorings", ScoringViewSet, basename="api-scoring")
router.register("match-labels", MatchLabelViewSet, basename="api-match-label")
