"""The catalogue's API, with the viewsets of all subpackages in one router."""

from __future__ import annotations

from rest_framework.routers import SimpleRouter

from catalog.calibration.api import (
    CalibrationViewSet,
    MatchLabelViewSet,
    ScoringViewSet,
    ThresholdViewSet,
)
from catalog.curation.api import (
    DuplicateViewSet,
    MergeActionViewSet,
    MergeViewSet,
    TagViewSet,
    ToolRuleViewSet,
)
from catalog.entries import api as entries
from catalog.entries.api import UseViewSet
from catalog.evidence.api import EntryCasesViewSet, VersionCasesViewSet
from catalog.exchange.api import CatalogExportViewSet, CatalogImportViewSet
from catalog.listing.api import EntryListViewSet
from catalog.programs.api import EntryExportViewSet, VerifyViewSet
from catalog.retrieval.api import RetrieveViewSet


class EntryViewSet(
    EntryListViewSet,
    MergeActionViewSet,
    EntryCasesViewSet,
    EntryExportViewSet,
    entries.EntryViewSet,
):
    """Entries, newest first, or the best matches for the query `q`."""


class VersionViewSet(VersionCasesViewSet, entries.VersionViewSet):
    """A version and its state transitions, from draft to deprecated."""


router = SimpleRouter()
router.register("entries", EntryViewSet, basename="api-entry")
router.register("versions", VersionViewSet, basename="api-version")
router.register("uses", UseViewSet, basename="api-use")
router.register("verify", VerifyViewSet, basename="api-verify")
router.register("retrieve", RetrieveViewSet, basename="api-retrieve")
router.register("catalogue-imports", CatalogImportViewSet, basename="api-catalogue-import")
router.register("catalogue-export", CatalogExportViewSet, basename="api-catalogue-export")
router.register("merges", MergeViewSet, basename="api-merge")
router.register("duplicates", DuplicateViewSet, basename="api-duplicate")
router.register("tool-rules", ToolRuleViewSet, basename="api-tool-rule")
router.register("tags", TagViewSet, basename="api-tag")
router.register("calibration", CalibrationViewSet, basename="api-calibration")
router.register("thresholds", ThresholdViewSet, basename="api-threshold")
router.register("scorings", ScoringViewSet, basename="api-scoring")
router.register("match-labels", MatchLabelViewSet, basename="api-match-label")
