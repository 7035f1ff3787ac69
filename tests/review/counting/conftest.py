"""The golden case as rows of a study, as in the report's tests."""

from __future__ import annotations

from tests.review.report.conftest import campaign, golden

__all__ = ["campaign", "golden"]
