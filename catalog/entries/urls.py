"""URLs for the pages of entries, versions and uses."""

from __future__ import annotations

from django.urls import path

from catalog.entries.views import (
    actions,
    edit,
    history,
    page,
    review,
    rollback,
    script_check,
    use,
)

urlpatterns = [
    path("scripts/check/", script_check.check, name="script-check"),
    path("catalogue/new/", edit.entry_new, name="entry-new"),
    path("catalogue/new/alike/", edit.entry_alike, name="entry-alike"),
    path("catalogue/<slug:slug>/", page.entry_detail, name="entry-detail"),
    path("catalogue/entries/<int:pk>/", page.entry_by_number, name="entry-by-number"),
    path("catalogue/<slug:slug>/history/", history.version_history, name="version-history"),
    path("catalogue/versions/<int:pk>/edit/", edit.version_edit, name="version-edit"),
    path("catalogue/versions/<int:pk>/revert/", actions.revert_version, name="version-revert"),
    path("catalogue/versions/<int:pk>/review/", review.version_review, name="version-review"),
    path(
        "catalogue/versions/<int:pk>/roll-back/",
        rollback.version_roll_back,
        name="version-roll-back",
    ),
    path("catalogue/versions/<int:pk>/labels/", actions.label_version, name="version-labels"),
    path("catalogue/versions/<int:pk>/preview/", use.preview_version, name="version-preview"),
    path("catalogue/versions/<int:pk>/use/", use.use_version, name="version-use"),
    path("catalogue/uses/<int:pk>/", use.use_detail, name="use-detail"),
    path("catalogue/uses/<int:pk>/outcome/", use.rate_use, name="use-outcome"),
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
