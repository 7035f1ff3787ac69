"""Addresses of the catalogue's pages."""

from __future__ import annotations

from django.urls import path

from catalog.calibration import views as calibration
from catalog.curation.views import duplicates
from catalog.entries.views import actions, edit, use
from catalog.exchange import views as files
from catalog.listing.views import bulk, entry_list

urlpatterns = [
    path("catalogue/", entry_list.catalog_list, name="catalog-list"),
    path("catalogue/new/", edit.entry_new, name="entry-new"),
    path("catalogue/imports/", files.catalog_import, name="catalog-import"),
    path("catalogue/imports/<int:pk>/", files.import_detail, name="catalog-import-detail"),
    path("catalogue/imports/<int:pk>/start/", files.import_start, name="catalog-import-start"),
    path("catalogue/imports/<int:pk>/cancel/", files.import_cancel, name="catalog-import-cancel"),
    path("catalogue/imports/<int:pk>/report/", files.import_report, name="catalog-import-report"),
    path("catalogue/export/", files.catalog_export, name="catalog-export"),
    path("catalogue/export/file/", files.export_file, name="catalog-export-file"),
    path("catalogue/curation/bulk/", bulk.bulk, name="bulk"),
    path("catalogue/curation/duplicates/", duplicates.duplicate_list, name="duplicate-list"),
    path(
        "catalogue/curation/duplicates/<int:pk>/dismiss/",
        duplicates.duplicate_dismiss,
        name="duplicate-dismiss",
    ),
    path("catalogue/curation/findings/", duplicates.finding_list, name="finding-list"),
    path(
        "catalogue/curation/findings/<int:pk>/seen/", duplicates.finding_seen, name="finding-seen"
    ),
    path("catalogue/curation/merges/<int:pk>/undo/", duplicates.merge_undo, name="merge-undo"),
    path("catalogue/calibration/", calibration.calibration, name="calibration"),
    path("catalogue/calibration/threshold/", calibration.threshold_set, name="threshold-set"),
    path("catalogue/calibration/fit/", calibration.scoring_fit, name="scoring-fit"),
    path("catalogue/calibration/scoring/", calibration.scoring_choose, name="scoring-choose"),
    path("catalogue/calibration/label/", calibration.case_label, name="case-label"),
    path("catalogue/calibration/labels/<int:pk>/undo/", calibration.label_undo, name="label-undo"),
    path("catalogue/<slug:slug>/merge/", duplicates.entry_merge, name="entry-merge"),
    path("catalogue/<slug:slug>/", entry_list.entry_detail, name="entry-detail"),
    path("catalogue/<slug:slug>/history/", entry_list.version_history, name="version-history"),
    path("catalogue/versions/<int:pk>/edit/", edit.version_edit, name="version-edit"),
    path("catalogue/versions/<int:pk>/revert/", actions.revert_version, name="version-revert"),
    path("catalogue/versions/<int:pk>/labels/", actions.label_version, name="version-labels"),
    path("catalogue/versions/<int:pk>/preview/", use.preview_version, name="version-preview"),
    path("catalogue/versions/<int:pk>/use/", use.use_version, name="version-use"),
    path("catalogue/uses/<int:pk>/", use.use_detail, name="use-detail"),
    path("catalogue/uses/<int:pk>/outcome/", use.rate_use, name="use-outcome"),
    path("catalogue/curation/wordings/", duplicates.wording_list, name="wording-list"),
    path(
        "catalogue/phrasings/<int:pk>/confirm/", actions.confirm_phrasing, name="phrasing-confirm"
    ),
    path("catalogue/phrasings/<int:pk>/remove/", actions.remove_phrasing, name="phrasing-remove"),
    *[
        path(
            f"catalogue/versions/<int:pk>/{name.replace('_', '-')}/",
            actions.move_version,
            {"name": name},
            name=f"version-{name.replace('_', '-')}",
        )
        for name in actions.VERSION_MOVES
    ],
    *[
        path(
            f"catalogue/<slug:slug>/{name}/",
            actions.move_entry,
            {"name": name},
            name=f"entry-{name}",
        )
        for name in actions.ENTRY_MOVES
    ],
]
