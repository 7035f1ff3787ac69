"""Measure, without a model, which errors a test suite would miss.

These figures never verify a script. Instead, they show how strong the evidence is, and are displayed with every result.
The package does not access the database.
"""

from __future__ import annotations

from catalog.execution.quality.document import as_document, quality_document
from catalog.execution.quality.failing_calls import FailingCall
from catalog.execution.quality.mutations import Mutant, make_mutants
from catalog.execution.quality.repetition import repeat
from catalog.execution.quality.report import Quality, add_quality, describe, measure_quality

__all__ = [
    "FailingCall",
    "Mutant",
    "Quality",
    "add_quality",
    "as_document",
    "describe",
    "make_mutants",
    "measure_quality",
    "quality_document",
    "repeat",
]
