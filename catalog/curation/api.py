"""The API for merges, near-duplicates, tool rules and tags. It calls the same services as the pages."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import CURATE, CURATE_SCOPE, access_entry, require
from catalog.curation import services
from catalog.entries.serializers import TagSerializer
from catalog.models import Entry, Merge, NearDuplicate, Tag, ToolRule
from core.errors import BadInput
from core.web.requests import read_body, read_key, signed_in


class MergeInput(serializers.Serializer[Any]):
    into = serializers.SlugField(help_text="Slug of the entry to keep.")
    note = serializers.CharField(required=False, allow_blank=True, default="")


class MergeOutput(serializers.ModelSerializer[Merge]):
    entry = serializers.CharField(source="source.slug")
    into = serializers.CharField(source="target.slug")
    by = serializers.CharField(source="by.username")

    class Meta:
        model = Merge
        fields = ("id", "entry", "into", "note", "by", "at", "undone_at")


class DuplicateOutput(serializers.ModelSerializer[NearDuplicate]):
    first = serializers.CharField(source="first.slug")
    second = serializers.CharField(source="second.slug")
    state = serializers.CharField()

    class Meta:
        model = NearDuplicate
        fields = ("id", "first", "second", "likeness", "same_script", "state")


class MergeActionViewSet(viewsets.GenericViewSet[Entry]):
    """An endpoint that merges an entry into another entry."""

    @extend_schema(request=MergeInput, responses={201: MergeOutput})
    @action(detail=True, methods=["post"])
    def merge(self, request: Request, slug: str) -> Response:
        """Merge this entry into another entry."""
        source = access_entry(request.user, slug, to_curate=True)
        sent = read_body(MergeInput, request)
        target = Entry.objects.defer("document").filter(slug=sent["into"]).first()
        if target is None:
            raise BadInput("This entry does not exist.", field="into")
        merge = services.merge_entries(
            source, target=target, by=signed_in(request), note=sent["note"]
        )
        return Response(MergeOutput(merge).data, status=201)


class MergeViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Merge]):
    """Merges, newest first."""

    serializer_class = MergeOutput
    required_scope = CURATE_SCOPE
    queryset = Merge.objects.select_related("source", "target", "by").defer(
        "source__document", "target__document"
    )

    @extend_schema(request=None, responses=MergeOutput)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Undo the merge."""
        require(signed_in(request), CURATE)
        merge = get_object_or_404(self.get_queryset(), pk=read_key(pk))
        services.undo_merge(merge, by=signed_in(request))
        return Response(MergeOutput(merge).data)


class DuplicateViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[NearDuplicate]):
    """Pairs of entries that may do the same thing and are waiting for a curator's decision."""

    serializer_class = DuplicateOutput
    required_scope = CURATE_SCOPE
    queryset = NearDuplicate.objects.none()

    def get_queryset(self) -> QuerySet[NearDuplicate]:
        require(signed_in(self.request), CURATE)
        return NearDuplicate.objects.to_look_at()

    @extend_schema(request=None, responses=DuplicateOutput)
    @action(detail=True, methods=["post"])
    def dismiss(self, request: Request, pk: str) -> Response:
        """Dismiss the pair, because the entries do different things."""
        require(signed_in(request), CURATE)
        pairs = NearDuplicate.objects.select_related("first", "second")
        pair = get_object_or_404(pairs, pk=read_key(pk))
        services.dismiss_pair(pair, by=signed_in(request))
        pair.refresh_from_db()
        return Response(DuplicateOutput(pair).data)


class ToolRuleOutput(serializers.ModelSerializer[ToolRule]):
    effect = serializers.ChoiceField(choices=ToolRule.Effect.choices)
    by = serializers.CharField(source="by.username", read_only=True)

    class Meta:
        model = ToolRule
        fields = ("id", "name", "effect", "note", "by", "at")


class ToolRuleInput(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="A command, optionally with subcommands.")
    effect = serializers.ChoiceField(choices=ToolRule.Effect.choices)
    note = serializers.CharField(required=False, allow_blank=True, default="")


class ToolRuleViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[ToolRule]):
    """The team's own tools and their effects. Static analysis uses these rules for commands that it does not know."""

    serializer_class = ToolRuleOutput
    required_scope = CURATE_SCOPE
    queryset = ToolRule.objects.none()

    def get_queryset(self) -> QuerySet[ToolRule]:
        require(signed_in(self.request), CURATE)
        return ToolRule.objects.select_related("by")

    @extend_schema(request=ToolRuleInput, responses={201: ToolRuleOutput})
    def create(self, request: Request) -> Response:
        """Add a rule."""
        return self._save(request, None, status=201)

    @extend_schema(request=ToolRuleInput, responses=ToolRuleOutput)
    def update(self, request: Request, pk: str) -> Response:
        """Replace a rule."""
        return self._save(request, self._rule(pk), status=200)

    @extend_schema(request=None, responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        """Remove a rule."""
        services.remove_tool_rule(self._rule(pk), by=signed_in(request))
        return Response(status=204)

    def _rule(self, pk: str) -> ToolRule:
        return get_object_or_404(self.get_queryset(), pk=read_key(pk))

    def _save(self, request: Request, rule: ToolRule | None, *, status: int) -> Response:
        require(signed_in(request), CURATE)
        sent = read_body(ToolRuleInput, request)
        saved = services.save_tool_rule(rule, **sent, by=signed_in(request))
        return Response(ToolRuleOutput(saved).data, status=status)


class TagViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Tag]):
    """All tags."""

    serializer_class = TagSerializer
    queryset = Tag.objects.all()
