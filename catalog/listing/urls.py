"""URLs for the list of entries, bulk actions and saved views."""

from __future__ import annotations

from django.urls import path

from catalog.listing.views import bulk, entry_list, saved_views

urlpatterns = [
    path("catalogue/", entry_list.catalog_list, name="catalog-list"),
    path("catalogue/curation/bulk/", bulk.bulk, name="bulk"),
    path("views/save/", saved_views.view_save, name="view-save"),
    path("views/<int:pk>/remove/", saved_views.view_remove, name="view-remove"),
]
