"""Addresses of the lists that curators work through, and of merging."""

from __future__ import annotations

from django.urls import path

from catalog.curation.views import changed_evidence, duplicates, merging, newer_findings, wordings

urlpatterns = [
    path("catalogue/curation/duplicates/", duplicates.duplicate_list, name="duplicate-list"),
    path(
        "catalogue/curation/duplicates/<int:pk>/dismiss/",
        duplicates.duplicate_dismiss,
        name="duplicate-dismiss",
    ),
    path("catalogue/curation/evidence/", changed_evidence.evidence_list, name="evidence-list"),
    path(
        "catalogue/curation/evidence/<int:pk>/seen/",
        changed_evidence.evidence_seen,
        name="evidence-seen",
    ),
    path("catalogue/curation/findings/", newer_findings.finding_list, name="finding-list"),
    path(
        "catalogue/curation/findings/<int:pk>/seen/",
        newer_findings.finding_seen,
        name="finding-seen",
    ),
    path("catalogue/curation/merges/<int:pk>/undo/", merging.merge_undo, name="merge-undo"),
    path("catalogue/<slug:slug>/merge/", merging.entry_merge, name="entry-merge"),
    path("catalogue/curation/wordings/", wordings.wording_list, name="wording-list"),
]
