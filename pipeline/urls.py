"""Addresses of the pipeline's pages."""

from __future__ import annotations

from django.urls import path

from pipeline.views import actions, runs, settings

urlpatterns = [
    path("actions/", actions.action_list, name="action-list"),
    path("actions/new/", actions.action_new, name="action-new"),
    path("actions/<int:pk>/", actions.action_detail, name="action-detail"),
    path("actions/<int:pk>/run/", actions.run_start, name="run-start"),
    path("runs/<int:pk>/", runs.run_detail, name="run-detail"),
    path("runs/<int:pk>/status/", runs.run_status, name="run-status"),
    path("runs/<int:pk>/calls/", runs.run_calls, name="run-calls"),
    path("runs/<int:pk>/cancel/", runs.cancel_run, name="run-cancel"),
    path("runs/<int:pk>/retry/", runs.retry_run, name="run-retry"),
    path("runs/<int:pk>/confirm-match/", runs.confirm_match, name="run-confirm-match"),
    path("runs/<int:pk>/reject-match/", runs.reject_match, name="run-reject-match"),
    path("drafts/<int:pk>/use/", runs.use_draft, name="run-use-draft"),
    path("endpoints/", settings.endpoint_list, name="endpoint-list"),
    path("configurations/", settings.configuration_list, name="configuration-list"),
]
