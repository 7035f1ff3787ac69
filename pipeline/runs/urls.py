"""URLs for the pages of runs and drafts."""

from __future__ import annotations

from django.urls import path, register_converter

from core.web.public_keys import DRAFT, PublicKeyConverter
from pipeline.runs.views import comparison, drafts, runs


class DraftKey(PublicKeyConverter):
    kind = DRAFT


register_converter(DraftKey, "draft_key")

urlpatterns = [
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
    path("drafts/<draft_key:pk>/check/", drafts.draft_check, name="draft-check"),
    path("drafts/<draft_key:pk>/use/", drafts.use_draft, name="run-use-draft"),
]
