"""What curators do, by the API: the same services as the pages."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import services
from catalog.access import access_entries, access_entry, access_version, access_versions
from catalog.entries.serializers import EntrySerializer, ReasonInput, VersionSerializer
from catalog.entries.services.locks import CURATE as MAY_CURATE
from catalog.entries.services.locks import require
from catalog.models import Entry, Merge, NearDuplicate, Version, VersionEvent
from catalog.version_details import VersionDetails
from core.errors import BadInput
from core.web.requests import read_body, read_key, signed_in

CURATE = "curate"


class EntryInput(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=300)
    script = serializers.CharField(trim_whitespace=False)
    phrasings = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    details = serializers.DictField(required=False, default=dict)


class EditInput(serializers.Serializer[Any]):
    script = serializers.CharField(trim_whitespace=False)
    details = serializers.DictField(
        required=False, default=dict, help_text="What is left out stays as it is."
    )
    note = serializers.CharField(required=False, allow_blank=True, default="")


class LabelsInput(serializers.Serializer[Any]):
    tags = serializers.ListField(child=serializers.CharField())
    links = serializers.ListField(child=serializers.DictField(), required=False, default=list)
    owner = serializers.CharField(required=False, allow_blank=True, default="")


class TitleInput(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=300)
    seen = serializers.CharField(required=False, allow_blank=True, default="")


class PhrasingInput(serializers.Serializer[Any]):
    text = serializers.CharField()


class LiftInput(serializers.Serializer[Any]):
    note = serializers.CharField()


class MergeInput(serializers.Serializer[Any]):
    into = serializers.SlugField(help_text="The entry that stays.")
    note = serializers.CharField(required=False, allow_blank=True, default="")


class MergeOutput(serializers.ModelSerializer[Merge]):
    entry = serializers.CharField(source="source.slug")
    into = serializers.CharField(source="target.slug")
    by = serializers.CharField(source="by.username")

    class Meta:
        model = Merge
        fields = ("id", "entry", "into", "note", "by", "at", "undone_at")


class EventOutput(serializers.ModelSerializer[VersionEvent]):
    version = serializers.IntegerField(source="version.number")
    old = serializers.CharField()
    new = serializers.CharField()
    by = serializers.CharField(source="by.username", default=None)

    class Meta:
        model = VersionEvent
        fields = ("version", "old", "new", "by", "at", "note")


class DuplicateOutput(serializers.ModelSerializer[NearDuplicate]):
    first = serializers.CharField(source="first.slug")
    second = serializers.CharField(source="second.slug")
    state = serializers.CharField()

    class Meta:
        model = NearDuplicate
        fields = ("id", "first", "second", "likeness", "same_script", "state")


class EntryDeeds(viewsets.GenericViewSet[Entry]):
    """What a curator does with an entry."""

    required_scope = CURATE

    @extend_schema(request=EntryInput, responses={201: VersionSerializer})
    def create(self, request: Request) -> Response:
        """A new entry with its first version, a draft."""
        require(signed_in(request), MAY_CURATE)
        said = read_body(EntryInput, request)
        version = services.create_entry(
            said["title"],
            script=said["script"],
            phrasings=said["phrasings"],
            details=VersionDetails.read(said["details"]),
            by=signed_in(request),
        )
        return _answer(version, status=201)

    @extend_schema(responses=EventOutput(many=True))
    @action(detail=True, pagination_class=None, filter_backends=[])
    def history(self, request: Request, slug: str) -> Response:
        """What happened to its versions, newest first."""
        entry = access_entry(request.user, slug)
        events = VersionEvent.objects.filter(version__entry=entry).select_related("version", "by")
        return Response(EventOutput(events.order_by("-pk"), many=True).data)

    @extend_schema(request=ReasonInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def suspend(self, request: Request, slug: str) -> Response:
        """Take it out of every answer until somebody has looked."""
        entry = self._entry(request, slug)
        services.suspend(entry, by=signed_in(request), **read_body(ReasonInput, request))
        return self._entry_answer(request, slug)

    @extend_schema(request=LiftInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def lift(self, request: Request, slug: str) -> Response:
        """Let it answer again; the note says what was found."""
        entry = self._entry(request, slug)
        services.lift_suspension(entry, by=signed_in(request), **read_body(LiftInput, request))
        return self._entry_answer(request, slug)

    @extend_schema(request=TitleInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def rename(self, request: Request, slug: str) -> Response:
        """Give it another title; its address stays."""
        entry = self._entry(request, slug)
        services.rename(entry, by=signed_in(request), **read_body(TitleInput, request))
        return self._entry_answer(request, slug)

    @extend_schema(request=PhrasingInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"])
    def phrasings(self, request: Request, slug: str) -> Response:
        """Add a wording."""
        entry = self._entry(request, slug)
        text = read_body(PhrasingInput, request)["text"]
        services.add_phrasing(entry, text=text, by=signed_in(request))
        return self._entry_answer(request, slug)

    @extend_schema(request={"application/json": PhrasingInput}, responses={200: EntrySerializer})
    @phrasings.mapping.delete
    def remove_phrasing(self, request: Request, slug: str) -> Response:
        """Take a wording away."""
        entry = self._entry(request, slug)
        text = read_body(PhrasingInput, request)["text"]
        phrasing = get_object_or_404(entry.phrasings.defer("document"), text=text)
        services.remove_phrasing(phrasing, by=signed_in(request))
        return self._entry_answer(request, slug)

    @extend_schema(request=PhrasingInput, responses=EntrySerializer)
    @action(detail=True, methods=["post"], url_path="phrasings/confirm")
    def confirm_phrasing(self, request: Request, slug: str) -> Response:
        """Put one's name to a wording that somebody else has added."""
        entry = self._entry(request, slug)
        text = read_body(PhrasingInput, request)["text"]
        phrasing = get_object_or_404(entry.phrasings.defer("document"), text=text)
        services.confirm_phrasing(phrasing, by=signed_in(request))
        return self._entry_answer(request, slug)

    @extend_schema(request=MergeInput, responses={201: MergeOutput})
    @action(detail=True, methods=["post"])
    def merge(self, request: Request, slug: str) -> Response:
        """Take it into another entry."""
        source = self._entry(request, slug)
        said = read_body(MergeInput, request)
        target = Entry.objects.defer("document").filter(slug=said["into"]).first()
        if target is None:
            raise BadInput("There is no such entry.", field="into")
        merge = services.merge_entries(
            source, target=target, by=signed_in(request), note=said["note"]
        )
        return Response(MergeOutput(merge).data, status=201)

    def _entry(self, request: Request, slug: str) -> Entry:
        return access_entry(request.user, slug, to_curate=True)

    def _entry_answer(self, request: Request, slug: str) -> Response:
        entry = access_entries(request.user).get(slug=slug)
        versions = list(access_versions(request.user).filter(entry=entry))
        records = services.track_records([version.pk for version in versions])
        context = {"versions": versions, "records": records}
        return Response(EntrySerializer(entry, context=context).data)


class VersionDeeds(viewsets.GenericViewSet[Version]):
    """What a curator does with a version beside moving it."""

    required_scope = CURATE

    @extend_schema(request=EditInput, responses={201: VersionSerializer})
    @action(detail=True, methods=["post"])
    def edit(self, request: Request, pk: str) -> Response:
        """The next version, a draft, made from the newest one."""
        version = _version(request, pk)
        said = read_body(EditInput, request)
        known = services.details_of(version).model_dump()
        made = services.edit_version(
            version,
            script=said["script"],
            details=VersionDetails.read({**known, **said["details"]}),
            by=signed_in(request),
            note=said["note"],
        )
        return _answer(made, status=201)

    @extend_schema(request=None, responses={201: VersionSerializer})
    @action(detail=True, methods=["post"])
    def revert(self, request: Request, pk: str) -> Response:
        """The next version, a draft, with the script and the details of this one."""
        made = services.revert_to(_version(request, pk), by=signed_in(request))
        return _answer(made, status=201)

    @extend_schema(request=LabelsInput, responses=VersionSerializer)
    @action(detail=True, methods=["post"])
    def labels(self, request: Request, pk: str) -> Response:
        """Change tags, links and owner in place."""
        version = _version(request, pk)
        said = read_body(LabelsInput, request)
        owner = User.objects.filter(username=said["owner"], is_active=True).first()
        if said["owner"] and owner is None:
            raise BadInput("There is no active account of that name.", field="owner")
        services.set_details(
            version, by=signed_in(request), tags=said["tags"], links=said["links"], owner=owner
        )
        return _answer(version)


class MergeViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Merge]):
    """Merges, newest first."""

    serializer_class = MergeOutput
    required_scope = CURATE
    queryset = Merge.objects.select_related("source", "target", "by").defer(
        "source__document", "target__document"
    )

    @extend_schema(request=None, responses=MergeOutput)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Take the merged entry out again."""
        require(signed_in(request), MAY_CURATE)
        merge = get_object_or_404(self.get_queryset(), pk=read_key(pk))
        services.undo_merge(merge, by=signed_in(request))
        return Response(MergeOutput(merge).data)


class DuplicateViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[NearDuplicate]):
    """Pairs of entries that may do the same and that nobody has decided on."""

    serializer_class = DuplicateOutput
    required_scope = CURATE
    queryset = NearDuplicate.objects.none()

    def get_queryset(self) -> QuerySet[NearDuplicate]:
        require(signed_in(self.request), MAY_CURATE)
        return services.open_pairs()

    @extend_schema(request=None, responses=DuplicateOutput)
    @action(detail=True, methods=["post"])
    def dismiss(self, request: Request, pk: str) -> Response:
        """They are two different things."""
        require(signed_in(request), MAY_CURATE)
        pairs = NearDuplicate.objects.select_related("first", "second")
        pair = get_object_or_404(pairs, pk=read_key(pk))
        services.dismiss_pair(pair, by=signed_in(request))
        pair.refresh_from_db()
        return Response(DuplicateOutput(pair).data)


def _version(request: Request, pk: str) -> Version:
    return access_version(request.user, read_key(pk), to_curate=True)


def _answer(version: Version, *, status: int = 200) -> Response:
    shown = Version.objects.select_related("entry", "author", "owner", "verified_by").get(
        pk=version.pk
    )
    records = services.track_records([shown.pk])
    return Response(VersionSerializer(shown, context={"records": records}).data, status=status)
