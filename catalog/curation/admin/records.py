"""The catalogue's read-only admin pages."""

from __future__ import annotations

from django.contrib import admin

from catalog.models import (
    EmbeddingModel,
    Job,
    MatchLabel,
    Merge,
    NearDuplicate,
    Phrasing,
    Recheck,
    Rollback,
    ScoringChoice,
    ScoringModel,
    Threshold,
    Use,
    VersionEvent,
)


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


@admin.register(Use)
class UseAdmin(admin.ModelAdmin[Use]):
    list_display = ("version", "by", "at", "outcome", "incident")
    list_filter = ("outcome",)
    list_select_related = ("version__entry", "by")
    # The values are private to the user who entered them.
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
    list_select_related = ("by",)


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(admin.ModelAdmin[EmbeddingModel]):
    list_display = ("name", "spec", "dimension", "state", "created_at")


@admin.register(ScoringModel)
class ScoringModelAdmin(admin.ModelAdmin[ScoringModel]):
    list_display = ("name", "based_on", "labels", "by", "at")
    list_select_related = ("by",)


@admin.register(ScoringChoice)
class ScoringChoiceAdmin(admin.ModelAdmin[ScoringChoice]):
    list_display = ("scoring", "why", "by", "at")
    list_select_related = ("by",)


@admin.register(Merge)
class MergeAdmin(admin.ModelAdmin[Merge]):
    list_display = ("source", "target", "by", "at", "undone_at")
    list_select_related = ("source", "target", "by")


@admin.register(NearDuplicate)
class NearDuplicateAdmin(admin.ModelAdmin[NearDuplicate]):
    list_display = ("first", "second", "likeness", "state", "by")
    list_filter = ("state",)
    list_select_related = ("first", "second", "by")
    show_full_result_count = False


@admin.register(Recheck)
class RecheckAdmin(admin.ModelAdmin[Recheck]):
    list_display = ("version", "checked_with", "at", "risk", "has_changed", "seen_at")
    list_filter = ("has_changed",)
    list_select_related = ("version__entry",)
    show_full_result_count = False


@admin.register(Job)
class JobAdmin(admin.ModelAdmin[Job]):
    list_display = ("kind", "state", "filename", "done", "total", "by", "created_at")
    list_filter = ("kind", "state")
    list_select_related = ("by",)


@admin.register(Rollback)
class RollbackAdmin(admin.ModelAdmin[Rollback]):
    list_display = ("version", "replaced", "is_emergency", "by", "at", "confirmed_by")
    list_filter = ("is_emergency",)
    list_select_related = ("version__entry", "replaced__entry", "by", "confirmed_by")
    show_full_result_count = False
