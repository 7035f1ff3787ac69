"""The pipeline's API: one router for the viewsets of all packages."""

from __future__ import annotations

from rest_framework.routers import SimpleRouter

from pipeline.actions.api import ActionViewSet
from pipeline.configurations.api import ConfigurationViewSet, PromptViewSet
from pipeline.costs.api import SpendingViewSet
from pipeline.endpoints.api import EndpointViewSet
from pipeline.runs.api import DraftViewSet, RunViewSet

router = SimpleRouter()
router.register("actions", ActionViewSet, basename="action")
router.register("runs", RunViewSet, basename="run")
router.register("drafts", DraftViewSet, basename="draft")
router.register("endpoints", EndpointViewSet, basename="endpoint")
router.register("configurations", ConfigurationViewSet, basename="configuration")
router.register("prompts", PromptViewSet, basename="prompt")
router.register("spending", SpendingViewSet, basename="spending")
