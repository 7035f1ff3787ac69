"""The REST API for reviews: one router for the viewsets of all packages."""

from __future__ import annotations

from rest_framework.routers import DefaultRouter

from review.campaigns.api import CampaignViewSet
from review.desk.api import DecisionViewSet, ItemViewSet, QueueViewSet, ScoreViewSet
from review.exchange.api import TransferViewSet
from review.queue.api import AssignmentViewSet
from review.report.api import ReportViewSet, SnapshotViewSet

router = DefaultRouter()
router.register("campaigns", CampaignViewSet, basename="campaign")
router.register("queue", QueueViewSet, basename="queue")
router.register("items", ItemViewSet, basename="item")
router.register("assignments", AssignmentViewSet, basename="assignment")
router.register("scores", ScoreViewSet, basename="score")
router.register("decisions", DecisionViewSet, basename="decision")
router.register("transfers", TransferViewSet, basename="transfer")
router.register("reports", ReportViewSet, basename="report")
router.register("report-snapshots", SnapshotViewSet, basename="report-snapshot")
