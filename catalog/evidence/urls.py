"""URLs for the pages about sandbox tests."""

from __future__ import annotations

from django.urls import path

from catalog.evidence.views import cases

urlpatterns = [
    path("catalogue/<slug:slug>/cases/", cases.entry_cases, name="entry-cases"),
    path("catalogue/<slug:slug>/cases/new/", cases.cases_new, name="cases-new"),
    path("catalogue/cases/<int:pk>/edit/", cases.cases_edit, name="cases-edit"),
    path("catalogue/cases/<int:pk>/remove/", cases.cases_remove, name="cases-remove"),
    path("catalogue/cases/<int:pk>/file/", cases.cases_file, name="cases-file"),
    path("catalogue/cases/<int:pk>/folder/", cases.cases_folder, name="cases-folder"),
    path("catalogue/versions/<int:pk>/cases/run/", cases.cases_run, name="cases-run"),
]
