"""The details of a report. Each section has a module that shows the document's data as tables and charts.

Sections without data are omitted.
"""

from __future__ import annotations

from collections.abc import Iterator

from review.report.report_view import ReportView
from review.report.sections.agreement import show_agreement
from review.report.sections.assessor import show_assessor
from review.report.sections.comparisons import show_comparisons
from review.report.sections.cost import show_cost
from review.report.sections.execution import show_execution
from review.report.sections.feedback import show_feedback
from review.report.sections.figures import show_figures
from review.report.sections.refinement import show_refinement
from review.report.sections.section import Section
from review.report.sections.sensitivity import show_sensitivity
from review.report.tables.table import Table

# In page order.
_SECTIONS = (
    show_figures,
    show_comparisons,
    show_assessor,
    show_refinement,
    show_feedback,
    show_agreement,
    show_sensitivity,
    show_execution,
    show_cost,
)


def show_sections(view: ReportView) -> list[Section]:
    """Return every section for which the report has data."""
    return [section for show in _SECTIONS if (section := show(view)) is not None]


def tables_in(sections: list[Section]) -> Iterator[Table]:
    """Yield every table of these sections, in page order."""
    for section in sections:
        for block in section.blocks:
            if block.table:
                yield block.table
