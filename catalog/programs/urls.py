"""URLs for outcome reports and exports to runners."""

from __future__ import annotations

from django.urls import path

from catalog.programs import views

urlpatterns = [
    path("catalogue/<slug:slug>/export/<slug:runner>/", views.entry_export, name="entry-export"),
    path(
        "catalogue/outcome-reports/",
        views.outcome_report_list,
        name="outcome-report-list",
    ),
    path(
        "catalogue/outcome-reports/<int:pk>/seen/",
        views.outcome_report_seen,
        name="outcome-report-seen",
    ),
]
