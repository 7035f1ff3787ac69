"""Addresses of the catalogue's pages, room by room."""

from __future__ import annotations

from django.urls import include, path

# Entries come last: `catalogue/<slug>/` fits the addresses of the other rooms too.
urlpatterns = [
    path("", include("catalog.listing.urls")),
    path("", include("catalog.exchange.urls")),
    path("", include("catalog.calibration.urls")),
    path("", include("catalog.curation.urls")),
    path("", include("catalog.evidence.urls")),
    path("", include("catalog.programs.urls")),
    path("", include("catalog.entries.urls")),
]
