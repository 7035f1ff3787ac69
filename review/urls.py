from __future__ import annotations

from django.urls import include, path

from review.views import desk, keeping, queue, report, studies, transfers

urlpatterns = [
    path("queue/", queue.queue, name="queue"),
    path("queue/next/", queue.claim_next, name="queue-next"),
    path("runs/<int:pk>/review/", queue.review_run, name="run-review"),
    path("campaigns/", include("review.campaign_urls")),
    path("studies/", studies.study_list, name="study-list"),
    path("studies/<int:pk>/", studies.study_queue, name="study-queue"),
    path("studies/<int:pk>/next/", studies.study_next, name="study-next"),
    path("items/<int:pk>/", desk.review, name="item-review"),
    path("items/<int:pk>/claim/", queue.claim_item, name="item-claim"),
    path("items/<int:pk>/score/", desk.score, name="item-score"),
    path("items/<int:pk>/decide/", desk.decide, name="item-decide"),
    path("items/<int:pk>/reveal/", desk.reveal, name="item-reveal"),
    path("items/<int:pk>/ask-feedback/", desk.ask_feedback, name="item-ask-feedback"),
    path("items/<int:pk>/send-feedback/", desk.send_feedback, name="item-send-feedback"),
    path("items/<int:pk>/give-back/", desk.give_back, name="item-give-back"),
    path("items/<int:pk>/flag/", desk.flag, name="item-flag"),
    path("items/<int:pk>/scratch/", keeping.save_scratch, name="item-scratch"),
    path("items/<int:pk>/alive/", keeping.keep_alive, name="item-alive"),
    path("items/<int:pk>/open/", keeping.open_in_tab, name="item-open"),
    path("items/<int:pk>/check/", keeping.check_edit, name="item-check"),
    path("items/<int:pk>/undo/", desk.undo, name="item-undo"),
    path("items/<int:pk>/answer/", desk.answer, name="item-answer"),
    path("items/<int:pk>/earlier/", desk.earlier, name="item-earlier"),
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
    path(
        "items/<int:pk>/execution-reason/",
        report.item_execution_reason,
        name="item-execution-reason",
    ),
    path("campaigns/<int:pk>/import/", transfers.campaign_import, name="campaign-import"),
    path("campaigns/<int:pk>/export/", transfers.campaign_export, name="campaign-export"),
    path("transfers/<int:pk>/", transfers.transfer_detail, name="transfer-detail"),
    path("transfers/<int:pk>/cancel/", transfers.transfer_cancel, name="transfer-cancel"),
    path("transfers/<int:pk>/lines/", transfers.transfer_lines, name="transfer-lines"),
    path("transfers/<int:pk>/file/", transfers.transfer_file, name="transfer-file"),
]
