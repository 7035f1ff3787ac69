"""Addresses of a study's report."""

from __future__ import annotations

from django.urls import path

from review.report import views

urlpatterns = [
    path("campaigns/<int:pk>/report/", views.campaign_report, name="campaign-report"),
    path(
        "campaigns/<int:pk>/report/threats/",
        views.report_threats_page,
        name="campaign-report-threats",
    ),
    path(
        "campaigns/<int:pk>/report/pairs/<str:stage>/",
        views.report_pairs,
        name="campaign-report-pairs",
    ),
    path("campaigns/<int:pk>/report/items/", views.report_items, name="campaign-report-items"),
    path(
        "campaigns/<int:pk>/report/snapshots/",
        views.campaign_snapshot,
        name="campaign-report-snapshots",
    ),
    path(
        "campaigns/<int:pk>/report/snapshots/<int:snapshot>/",
        views.report_snapshot,
        name="campaign-report-snapshot",
    ),
    path(
        "campaigns/<int:pk>/report/snapshots/<int:snapshot>/data/",
        views.report_snapshot_file,
        name="campaign-report-snapshot-data",
    ),
    path(
        "items/<item_key:pk>/execution-reason/",
        views.item_execution_reason,
        name="item-execution-reason",
    ),
]
