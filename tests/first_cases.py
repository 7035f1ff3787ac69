"""Split a parameter list: the first cases run in `make test`, and the others in `make test-nightly`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def first_cases(count: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases for `parametrize`, with all cases after the first `count` marked as nightly."""
    found = list(cases)
    return found[:count] + [_nightly(case) for case in found[count:]]


def _nightly(case: Any) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.nightly))
    values = case if isinstance(case, tuple | list) else (case,)
    return pytest.param(*values, marks=pytest.mark.nightly)
