from __future__ import annotations

from django.urls import include, path, register_converter

from core.web.public_keys import ITEM, PublicKeyConverter
from review.exchange import views as transfers
from review.queue.views import queue, studies
from review.report import views as report


class ItemKey(PublicKeyConverter):
    kind = ITEM


register_converter(ItemKey, "item_key")

urlpatterns = [
    path("items/<item_key:pk>/", include("review.desk.urls")),
    path("queue/", queue.queue, name="queue"),
    path("queue/next/", queue.claim_next, name="queue-next"),
    path("runs/<int:pk>/review/", queue.review_run, name="run-review"),
    path("campaigns/", include("review.campaigns.urls")),
    path("studies/", studies.study_list, name="study-list"),
    path("studies/<int:pk>/", studies.study_queue, name="study-queue"),
    path("studies/<int:pk>/next/", studies.study_next, name="study-next"),
    path("campaigns/<int:pk>/report/", report.campaign_report, name="campaign-report"),
    path(
        "campaigns/<int:pk>/report/threats/",
        report.report_threats_page,
        name="campaign-report-threats",
    ),
    path(
        "campaigns/<int:pk>/report/pairs/<str:stage>/",
        report.report_pairs,
        name="campaign-report-pairs",
    ),
    path("campaigns/<int:pk>/report/items/", report.report_items, name="campaign-report-items"),
    path(
        "campaigns/<int:pk>/report/snapshots/",
        report.campaign_snapshot,
        name="campaign-report-snapshots",
    ),
    path(
        "campaigns/<int:pk>/report/snapshots/<int:snapshot>/",
        report.report_snapshot,
        name="campaign-report-snapshot",
    ),
    path(
        "campaigns/<int:pk>/report/snapshots/<int:snapshot>/data/",
        report.report_snapshot_file,
        name="campaign-report-snapshot-data",
    ),
    path("campaigns/<int:pk>/import/", transfers.campaign_import, name="campaign-import"),
    path("campaigns/<int:pk>/export/", transfers.campaign_export, name="campaign-export"),
    path("transfers/<int:pk>/", transfers.transfer_detail, name="transfer-detail"),
    path("transfers/<int:pk>/cancel/", transfers.transfer_cancel, name="transfer-cancel"),
    path("transfers/<int:pk>/lines/", transfers.transfer_lines, name="transfer-lines"),
    path("transfers/<int:pk>/file/", transfers.transfer_file, name="transfer-file"),
]
