"""Addresses of the pipeline's pages."""

from __future__ import annotations

from django.urls import path, register_converter

from core.web.public_keys import DRAFT, PublicKeyConverter
from pipeline.actions import views as actions
from pipeline.configurations import prompt_views
from pipeline.configurations import views as configurations
from pipeline.costs import views as costs
from pipeline.endpoints import views as endpoints
from pipeline.runs.views import checks, comparison, runs


class DraftKey(PublicKeyConverter):
    kind = DRAFT


register_converter(DraftKey, "draft_key")

urlpatterns = [
    path("actions/", actions.action_list, name="action-list"),
    path("actions/new/", actions.action_new, name="action-new"),
    path("actions/<int:pk>/", actions.action_detail, name="action-detail"),
    path("actions/<int:pk>/run/", actions.run_start, name="run-start"),
    path("actions/<int:pk>/compare/", comparison.action_compare, name="action-compare"),
    path(
        "actions/<int:pk>/compare/status/",
        comparison.action_compare_status,
        name="action-compare-status",
    ),
    path("runs/<int:pk>/", runs.run_detail, name="run-detail"),
    path("runs/<int:pk>/status/", runs.run_status, name="run-status"),
    path("runs/<int:pk>/calls/", runs.run_calls, name="run-calls"),
    path("runs/<int:pk>/cancel/", runs.cancel_run, name="run-cancel"),
    path("runs/<int:pk>/retry/", runs.retry_run, name="run-retry"),
    path("runs/<int:pk>/confirm-match/", runs.confirm_match, name="run-confirm-match"),
    path("runs/<int:pk>/reject-match/", runs.reject_match, name="run-reject-match"),
    path("drafts/<draft_key:pk>/check/", checks.draft_check, name="draft-check"),
    path("drafts/<draft_key:pk>/use/", runs.use_draft, name="run-use-draft"),
    path("cost/", costs.cost, name="cost"),
    path("cost/export/", costs.cost_export, name="cost-export"),
    path("endpoints/", endpoints.endpoint_list, name="endpoint-list"),
    path("endpoints/new/", endpoints.endpoint_new, name="endpoint-new"),
    path("endpoints/<slug:name>/", endpoints.endpoint_detail, name="endpoint-detail"),
    path("endpoints/<slug:name>/edit/", endpoints.endpoint_edit, name="endpoint-edit"),
    path("endpoints/<slug:name>/check/", endpoints.endpoint_check, name="endpoint-check"),
    path("endpoints/<slug:name>/switch-on/", endpoints.switch_on, name="endpoint-switch-on"),
    path("endpoints/<slug:name>/switch-off/", endpoints.switch_off, name="endpoint-switch-off"),
    path("endpoints/<slug:name>/wake/", endpoints.wake, name="endpoint-wake"),
    path("endpoints/<slug:name>/use-mode/", endpoints.use_mode, name="endpoint-use-mode"),
    path("endpoints/<slug:name>/delete/", endpoints.delete_endpoint, name="endpoint-delete"),
    path("endpoints/<slug:name>/prices/", endpoints.add_price, name="price-add"),
    path(
        "endpoints/<slug:name>/prices/<int:pk>/remove/",
        endpoints.remove_price,
        name="price-remove",
    ),
    path("configurations/", configurations.configuration_list, name="configuration-list"),
    path("configurations/new/", configurations.configuration_new, name="configuration-new"),
    path(
        "configurations/<slug:name>/",
        configurations.configuration_detail,
        name="configuration-detail",
    ),
    path(
        "configurations/<slug:name>/default/",
        configurations.configuration_default,
        name="configuration-default",
    ),
    path(
        "configurations/<slug:name>/archive/",
        configurations.configuration_archive,
        name="configuration-archive",
    ),
    path(
        "configurations/<slug:name>/unarchive/",
        configurations.configuration_unarchive,
        name="configuration-unarchive",
    ),
    path("prompts/", prompt_views.prompt_list, name="prompt-list"),
    path("prompts/<slug:name>/", prompt_views.prompt_detail, name="prompt-detail"),
    path("prompts/<slug:name>/new/", prompt_views.prompt_new, name="prompt-new"),
]
