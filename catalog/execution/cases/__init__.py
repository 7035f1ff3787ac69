"""Sandbox tests: scenarios and checks as JSON, with a sentence for each check. This package does not use the
database.
"""

from __future__ import annotations

from catalog.execution.cases.case import (
    Author,
    Case,
    CaseRefused,
    CaseSet,
    json_schema,
    read_case_set,
)
from catalog.execution.cases.effects import Effects, find_effects
from catalog.execution.cases.results import CaseResult, CheckResult, Execution, State
from catalog.execution.cases.runner import Variation, run_case, run_case_set

__all__ = [
    "Author",
    "Case",
    "CaseRefused",
    "CaseResult",
    "CaseSet",
    "CheckResult",
    "Effects",
    "Execution",
    "State",
    "Variation",
    "find_effects",
    "json_schema",
    "read_case_set",
    "run_case",
    "run_case_set",
]
