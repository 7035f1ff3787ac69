"""URLs for a study's report."""

from __future__ import annotations

from django.urls import path

from review.report.views import evidence, items, report, snapshots

_REPORT = "campaigns/<int:pk>/report/"
_SNAPSHOT = f"{_REPORT}snapshots/<int:snapshot>/"
_LIVE = "queue/execution/"
_TABLE = "tables/<slug:table>.<slug:ending>"

urlpatterns = [
    path(_REPORT, report.campaign_report, name="campaign-report"),
    path(f"{_REPORT}{_TABLE}", report.report_table, name="campaign-report-table"),
    path(f"{_REPORT}threats/", report.report_threats_page, name="campaign-report-threats"),
    path(f"{_REPORT}pairs/<str:stage>/", report.report_pairs, name="campaign-report-pairs"),
    path(f"{_REPORT}items/", items.report_items, name="campaign-report-items"),
    path(f"{_REPORT}changes/", evidence.report_changes, name="campaign-report-changes"),
    path(f"{_REPORT}snapshots/", snapshots.campaign_snapshot, name="campaign-report-snapshots"),
    path(_SNAPSHOT, snapshots.report_snapshot, name="campaign-report-snapshot"),
    path(f"{_SNAPSHOT}data/", snapshots.report_snapshot_file, name="campaign-report-snapshot-data"),
    path(
        f"{_SNAPSHOT}{_TABLE}",
        snapshots.report_snapshot_table,
        name="campaign-report-snapshot-table",
    ),
    path(_LIVE, evidence.live_report, name="queue-execution"),
    path(f"{_LIVE}items/", evidence.live_items, name="queue-execution-items"),
    path(f"{_LIVE}changes/", evidence.live_changes, name="queue-execution-changes"),
    path(f"{_LIVE}{_TABLE}", evidence.live_table, name="queue-execution-table"),
    path(
        "items/<item_key:pk>/execution-reason/",
        items.item_execution_reason,
        name="item-execution-reason",
    ),
]
