"""URLs for the pipeline's pages, by package."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("pipeline.actions.urls")),
    path("", include("pipeline.runs.urls")),
    path("", include("pipeline.costs.urls")),
    path("", include("pipeline.endpoints.urls")),
    path("", include("pipeline.configurations.urls")),
]
