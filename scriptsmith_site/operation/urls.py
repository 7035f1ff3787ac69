"""Addresses of health, audit log and search."""

from __future__ import annotations

from django.urls import path

from scriptsmith_site.operation import audit, health, search

urlpatterns = [
    path("healthz", health.show_alive, name="healthz"),
    path("readyz", health.show_ready, name="readyz"),
    path("audit/", audit.show_audit_log, name="audit"),
    path("audit/export/", audit.export_audit_log, name="audit-export"),
    path("search/", search.show_search, name="search"),
]
