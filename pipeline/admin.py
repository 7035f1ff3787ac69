"""Read-only pages for the pipeline in Django's admin."""

from __future__ import annotations

from django.contrib import admin

from pipeline import models
from pipeline.runs.admin_rows import OfRun


@admin.register(models.Action)
class ActionAdmin(admin.ModelAdmin[models.Action]):
    list_display = ("pk", "__str__", "source", "severity", "asked_by", "created_at")
    list_filter = ("source", "severity")
    list_select_related = ("asked_by",)
    raw_id_fields = ("asked_by", "erased_by")
    search_fields = ("statement", "statement_sha256")
    show_full_result_count = False


@admin.register(models.Batch)
class BatchAdmin(admin.ModelAdmin[models.Batch]):
    list_display = ("name", "priority", "budget", "paused_at", "created_by")
    list_select_related = ("created_by",)
    raw_id_fields = ("created_by",)
    search_fields = ("name",)


@admin.register(models.Run)
class RunAdmin(OfRun[models.Run]):
    to_run = "pk"
    list_display = ("pk", "action", "configuration", "state", "verdict", "origin", "created_at")
    list_filter = ("state", "verdict", "origin", "demo")
    list_select_related = ("action", "configuration")
    raw_id_fields = ("action", "batch", "follows", "asked_by", "answered_by", "recommended")
    search_fields = ("=id", "action__statement")
    show_full_result_count = False


@admin.register(models.Stage)
class StageAdmin(OfRun[models.Stage]):
    list_display = ("pk", "run", "sequence", "name", "round", "state", "outcome", "milliseconds")
    list_filter = ("name", "state")
    list_select_related = ("run",)
    raw_id_fields = ("run", "refinement", "draft")
    search_fields = ("=run__id",)
    show_full_result_count = False


@admin.register(models.RetrievedMatch)
class RetrievedMatchAdmin(admin.ModelAdmin[models.RetrievedMatch]):
    list_display = ("pk", "run", "rank", "version", "answer", "confidence")
    list_filter = ("answer",)
    list_select_related = ("run", "version__entry")
    raw_id_fields = ("run", "version")
    search_fields = ("=run__id", "phrasing")
    show_full_result_count = False


@admin.register(models.Draft)
class DraftAdmin(OfRun[models.Draft]):
    list_display = ("pk", "run", "number", "kind", "arm", "round", "author", "model", "created_at")
    list_filter = ("kind", "arm")
    list_select_related = ("run", "author")
    raw_id_fields = ("run", "parent", "feedback", "refinement", "version", "author")
    search_fields = ("=run__id", "sha256")
    show_full_result_count = False


@admin.register(models.DraftFinding)
class DraftFindingAdmin(OfRun[models.DraftFinding]):
    to_run = "draft__run"
    list_display = ("pk", "draft", "check_name", "level", "code", "line")
    list_filter = ("check_name", "level")
    list_select_related = ("draft",)
    raw_id_fields = ("draft",)
    search_fields = ("=draft__id", "code")
    show_full_result_count = False


@admin.register(models.Assessment)
class AssessmentAdmin(OfRun[models.Assessment]):
    to_run = "draft__run"
    list_display = ("pk", "draft", "verdict", "why", "model", "created_at")
    list_filter = ("verdict",)
    list_select_related = ("draft",)
    raw_id_fields = ("draft",)
    search_fields = ("=draft__id", "script_sha256")
    show_full_result_count = False


@admin.register(models.Feedback)
class FeedbackAdmin(OfRun[models.Feedback]):
    to_run = "draft__run"
    list_display = ("pk", "draft", "arm", "round", "author", "model", "words")
    list_filter = ("arm", "no_error_found")
    list_select_related = ("draft", "author")
    raw_id_fields = ("draft", "based_on", "author")
    search_fields = ("=draft__id", "text")
    show_full_result_count = False


@admin.register(models.Refinement)
class RefinementAdmin(OfRun[models.Refinement]):
    list_display = ("pk", "run", "draft", "state", "asked_by", "created_at")
    list_filter = ("state",)
    list_select_related = ("run", "draft", "asked_by")
    raw_id_fields = ("run", "draft", "feedback", "asked_by")
    search_fields = ("=run__id",)
    show_full_result_count = False


@admin.register(models.DraftUse)
class DraftUseAdmin(admin.ModelAdmin[models.DraftUse]):
    list_display = ("pk", "draft", "by", "at", "outcome")
    list_filter = ("outcome",)
    list_select_related = ("draft", "by")
    raw_id_fields = ("draft", "by")
    search_fields = ("by__username", "reason")
    show_full_result_count = False


@admin.register(models.ModelCall)
class ModelCallAdmin(OfRun[models.ModelCall]):
    list_display = ("key", "run", "stage", "round", "endpoint", "model", "state", "outcome")
    list_filter = ("stage", "state", "endpoint")
    list_select_related = ("run", "endpoint")
    raw_id_fields = ("run", "refinement")
    search_fields = ("=run__id", "key")
    show_full_result_count = False


@admin.register(models.Attempt)
class AttemptAdmin(OfRun[models.Attempt]):
    to_run = "call__run"
    list_display = ("pk", "call", "number", "outcome", "http_status", "possibly_billed", "cost")
    list_filter = ("outcome", "possibly_billed")
    list_select_related = ("call",)
    raw_id_fields = ("call",)
    search_fields = ("=call__run__id", "request_id")
    show_full_result_count = False


@admin.register(models.Endpoint)
class EndpointAdmin(admin.ModelAdmin[models.Endpoint]):
    list_display = ("name", "base_url", "key_variable", "mode", "enabled", "demo")
    search_fields = ("name", "title", "base_url")


@admin.register(models.Price)
class PriceAdmin(admin.ModelAdmin[models.Price]):
    list_display = ("endpoint", "model", "since", "input", "output", "source")
    list_select_related = ("endpoint",)
    search_fields = ("model",)


@admin.register(models.Configuration)
class ConfigurationAdmin(admin.ModelAdmin[models.Configuration]):
    list_display = ("name", "title", "preset", "rounds", "is_default", "archived_at")
    search_fields = ("name", "title")


@admin.register(models.RoleSetting)
class RoleSettingAdmin(admin.ModelAdmin[models.RoleSetting]):
    list_display = ("configuration", "role", "endpoint", "model")
    list_filter = ("role",)
    list_select_related = ("configuration", "endpoint")
    search_fields = ("model", "configuration__name")


@admin.register(models.PromptVersion)
class PromptVersionAdmin(admin.ModelAdmin[models.PromptVersion]):
    list_display = ("name", "version", "source", "created_by", "created_at")
    list_filter = ("name", "source")
    list_select_related = ("created_by",)
    raw_id_fields = ("created_by",)


@admin.register(models.Spending)
class SpendingAdmin(admin.ModelAdmin[models.Spending]):
    list_display = ("day", "endpoint", "model", "configuration", "stage", "attempts", "cost")
    list_filter = ("endpoint", "stage")
    list_select_related = ("endpoint", "configuration")
    raw_id_fields = ("batch",)
    date_hierarchy = "day"
