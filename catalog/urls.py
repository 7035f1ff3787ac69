"""Addresses of the catalogue's pages."""

from __future__ import annotations

from django.urls import path

from catalog.views import browse, edit, moves, use

urlpatterns = [
    path("catalogue/", browse.catalog_list, name="catalog-list"),
    path("catalogue/new/", edit.entry_new, name="entry-new"),
    path("catalogue/<slug:slug>/", browse.entry_detail, name="entry-detail"),
    path("catalogue/<slug:slug>/history/", browse.version_history, name="version-history"),
    path("catalogue/versions/<int:pk>/edit/", edit.version_edit, name="version-edit"),
    path("catalogue/versions/<int:pk>/revert/", moves.revert_version, name="version-revert"),
    path("catalogue/versions/<int:pk>/labels/", moves.label_version, name="version-labels"),
    path("catalogue/versions/<int:pk>/preview/", use.preview_version, name="version-preview"),
    path("catalogue/versions/<int:pk>/use/", use.use_version, name="version-use"),
    path("catalogue/uses/<int:pk>/", use.use_detail, name="use-detail"),
    path("catalogue/uses/<int:pk>/outcome/", use.rate_use, name="use-outcome"),
    path("catalogue/phrasings/<int:pk>/remove/", moves.remove_phrasing, name="phrasing-remove"),
    *[
        path(
            f"catalogue/versions/<int:pk>/{name.replace('_', '-')}/",
            moves.move_version,
            {"name": name},
            name=f"version-{name.replace('_', '-')}",
        )
        for name in moves.VERSION_MOVES
    ],
    *[
        path(
            f"catalogue/<slug:slug>/{name}/",
            moves.move_entry,
            {"name": name},
            name=f"entry-{name}",
        )
        for name in moves.ENTRY_MOVES
    ],
]
