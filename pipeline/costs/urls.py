"""URLs for the costs pages."""

from __future__ import annotations

from django.urls import path

from pipeline.costs import views as costs

urlpatterns = [
    path("cost/", costs.cost, name="cost"),
    path("cost/export/", costs.cost_export, name="cost-export"),
]
