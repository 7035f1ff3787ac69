"""Stores what the static analysis says of a Draft, bound to the script's hash and each check's version."""

from __future__ import annotations

from catalog.analysis import Outcome, Report
from pipeline.models import Draft, DraftFinding


def keep_findings(draft: Draft, report: Report) -> None:
    """One row for each finding; a check that found nothing leaves none."""
    DraftFinding.objects.bulk_create(
        DraftFinding(
            draft=draft,
            script_sha256=report.sha256,
            check_name=found.check,
            check_version=found.version,
            outcome=found.outcome.value,
            level=found.level.value,
            code=found.code,
            message=found.message,
            line=found.line,
            column=found.column,
            end_line=found.end_line,
            end_column=found.end_column,
        )
        for found in report.findings
        if found.outcome is not Outcome.PASSED
    )
