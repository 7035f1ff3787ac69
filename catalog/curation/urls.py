"""URLs for the curators' work lists and of merging."""

from __future__ import annotations

from django.urls import path

from catalog.curation.views import changes, duplicates, merging, tool_rules, wordings

urlpatterns = [
    path("catalogue/curation/duplicates/", duplicates.duplicate_list, name="duplicate-list"),
    path(
        "catalogue/curation/duplicates/<int:pk>/dismiss/",
        duplicates.duplicate_dismiss,
        name="duplicate-dismiss",
    ),
    path("catalogue/curation/evidence/", changes.evidence_list, name="evidence-list"),
    path(
        "catalogue/curation/evidence/<int:pk>/seen/",
        changes.evidence_seen,
        name="evidence-seen",
    ),
    path("catalogue/curation/findings/", changes.finding_list, name="finding-list"),
    path(
        "catalogue/curation/findings/<int:pk>/seen/",
        changes.finding_seen,
        name="finding-seen",
    ),
    path("catalogue/curation/merges/<int:pk>/undo/", merging.merge_undo, name="merge-undo"),
    path("catalogue/<slug:slug>/merge/", merging.entry_merge, name="entry-merge"),
    path("catalogue/curation/tools/", tool_rules.tool_list, name="tool-list"),
    path("catalogue/curation/tools/new/", tool_rules.tool_edit, name="tool-new"),
    path("catalogue/curation/tools/<int:pk>/", tool_rules.tool_edit, name="tool-edit"),
    path("catalogue/curation/tools/<int:pk>/remove/", tool_rules.tool_remove, name="tool-remove"),
    path("catalogue/curation/wordings/", wordings.wording_list, name="wording-list"),
]
