"""Addresses of the list of entries."""

from __future__ import annotations

from django.urls import path

from catalog.listing.views import bulk, entry_list, saved_views

urlpatterns = [
    path("catalogue/", entry_list.catalog_list, name="catalog-list"),
    path("catalogue/curation/bulk/", bulk.bulk, name="bulk"),
    path("catalogue/views/save/", saved_views.view_save, name="catalog-view-save"),
    path("catalogue/views/<int:pk>/remove/", saved_views.view_remove, name="catalog-view-remove"),
]
