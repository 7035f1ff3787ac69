"""URLs for imports and exports."""

from __future__ import annotations

from django.urls import path

from catalog.exchange import views

urlpatterns = [
    path("catalogue/imports/", views.catalog_import, name="catalog-import"),
    path("catalogue/imports/<int:pk>/", views.import_detail, name="catalog-import-detail"),
    path("catalogue/imports/<int:pk>/start/", views.import_start, name="catalog-import-start"),
    path("catalogue/imports/<int:pk>/cancel/", views.import_cancel, name="catalog-import-cancel"),
    path("catalogue/imports/<int:pk>/report/", views.import_report, name="catalog-import-report"),
    path("catalogue/export/", views.catalog_export, name="catalog-export"),
    path("catalogue/export/file/", views.export_file, name="catalog-export-file"),
]
