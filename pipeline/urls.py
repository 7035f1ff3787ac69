"""Addresses of the pipeline's pages, room by room."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("pipeline.actions.urls")),
    path("", include("pipeline.runs.urls")),
    path("", include("pipeline.costs.urls")),
    path("", include("pipeline.endpoints.urls")),
    path("", include("pipeline.configurations.urls")),
]
