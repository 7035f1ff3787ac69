"""The catalogue in the admin, to be looked at; curators work on its own pages."""

from __future__ import annotations

from django.contrib import admin

from catalog.models import (
    EmbeddingModel,
    Entry,
    MatchLabel,
    Phrasing,
    Tag,
    Threshold,
    Use,
    Version,
    VersionEvent,
)


@admin.register(Entry)
class EntryAdmin(admin.ModelAdmin[Entry]):
    list_display = ("title", "slug", "created_at", "suspended_at")
    list_select_related = ("created_by",)
    search_fields = ("title", "slug")
    exclude = ("document",)


@admin.register(Version)
class VersionAdmin(admin.ModelAdmin[Version]):
    list_display = ("entry", "number", "state", "risk", "side_effect", "author", "verified_by")
    list_filter = ("state", "risk", "side_effect")
    list_select_related = ("entry", "author", "verified_by")
    search_fields = ("entry__title", "entry__slug", "sha256")
    show_full_result_count = False


@admin.register(VersionEvent)
class VersionEventAdmin(admin.ModelAdmin[VersionEvent]):
    list_display = ("version", "old", "new", "by", "at")
    list_select_related = ("version__entry", "by")
    show_full_result_count = False


@admin.register(Phrasing)
class PhrasingAdmin(admin.ModelAdmin[Phrasing]):
    list_display = ("text", "entry", "source")
    list_select_related = ("entry",)
    search_fields = ("text",)
    exclude = ("document",)
    show_full_result_count = False


@admin.register(Tag)
class TagAdmin(admin.ModelAdmin[Tag]):
    search_fields = ("name",)


@admin.register(Use)
class UseAdmin(admin.ModelAdmin[Use]):
    list_display = ("version", "by", "at", "outcome", "incident")
    list_filter = ("outcome",)
    list_select_related = ("version__entry", "by")
    # What was filled in is between the person and the machine it ran on.
    exclude = ("values",)
    show_full_result_count = False


@admin.register(MatchLabel)
class MatchLabelAdmin(admin.ModelAdmin[MatchLabel]):
    list_display = ("statement", "version", "label", "confidence", "by", "at")
    list_filter = ("label",)
    list_select_related = ("version__entry", "by")
    show_full_result_count = False


@admin.register(Threshold)
class ThresholdAdmin(admin.ModelAdmin[Threshold]):
    list_display = ("scoring", "match", "adapt", "wanted_precision", "by", "at")


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(admin.ModelAdmin[EmbeddingModel]):
    list_display = ("name", "spec", "dimension", "state", "created_at")
