"""Descriptions of the errors and findings in a static Report, for the repair prompt and for users."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from catalog.analysis import Finding, Level, Report, has_errors, is_at_least

_MOST_LINES = 12  # later errors often result from the first ones


def describe_errors(report: Report) -> str:
    """Return the checkers' errors, one per line, for the repair prompt and for users."""
    return describe_findings(
        found
        for found in report.problems
        if is_at_least(found.level, Level.ERROR) and found.check != "risk"
    )


def describe_findings(findings: Iterable[Finding]) -> str:
    """Return the first findings, one per line with location and code."""
    return "\n".join(map(_line, islice(findings, _MOST_LINES)))


def summarise(report: Report) -> str:
    """Summarize the findings in one sentence."""
    if report.syntax_ok is None:
        return "The syntax could not be checked because Bash did not run."
    if has_errors(report):
        return describe_errors(report)
    counts: dict[str, int] = {}
    for found in report.problems:
        counts[found.check] = counts.get(found.check, 0) + 1
    if not counts:
        return "No syntax errors and no findings."
    said = ", ".join(f"{count} by {check}" for check, count in sorted(counts.items()))
    return f"No syntax errors. Findings: {said}."


def _line(found: Finding) -> str:
    place = f"line {found.line}: " if found.line else ""
    return f"{place}{found.message} [{found.code or found.check}]"
