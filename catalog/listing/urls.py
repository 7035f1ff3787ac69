"""Addresses of the list of entries."""

from __future__ import annotations

from django.urls import path

from catalog.listing.views import bulk, entry_list

urlpatterns = [
    path("catalogue/", entry_list.catalog_list, name="catalog-list"),
    path("catalogue/curation/bulk/", bulk.bulk, name="bulk"),
]
