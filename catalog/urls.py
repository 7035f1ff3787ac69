"""URLs for the catalogue's pages."""

from __future__ import annotations

from django.urls import include, path

# Entry URLs come last, because `catalogue/<slug>/` also matches the other URLs.
urlpatterns = [
    path("", include("catalog.listing.urls")),
    path("", include("catalog.exchange.urls")),
    path("", include("catalog.calibration.urls")),
    path("", include("catalog.curation.urls")),
    path("", include("catalog.evidence.urls")),
    path("", include("catalog.programs.urls")),
    path("", include("catalog.entries.urls")),
]
