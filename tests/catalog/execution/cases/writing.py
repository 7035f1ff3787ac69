"""Write test suites for tests in the way that their authors write them."""

from __future__ import annotations

import json
from typing import Any

from catalog.execution.cases import Case, CaseSet, read_case_set

STATEMENT = "Delete log files of the app older than 7 days"


def case_data(*expect: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return one sandbox test with these checks. `changes` set its other fields."""
    return {
        "title": "old logs go",
        "about": "older than 7 days",
        "kind": "usual",
        "expect": list(expect) or [{"check": "exit_status", "equals": 0}],
        **changes,
    }


def set_data(*cases: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "format": 1,
        "statement": STATEMENT,
        "author": {"kind": "person", "name": "Ada"},
        "cases": list(cases) or [case_data()],
        **changes,
    }


def make_set(*cases: dict[str, Any], **changes: Any) -> CaseSet:
    return read_case_set(json.dumps(set_data(*cases, **changes)))


def make_case(*expect: dict[str, Any], **changes: Any) -> Case:
    return make_set(case_data(*expect, **changes)).cases[0]
