"""Of many cases of one rule, the first are told by `make test` and the others by `make test-slow`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet


def first_cases(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases for `parametrize`, all after the first ones marked as slow."""
    found = list(cases)
    return found[:count] + [_slow(case) for case in found[count:]]


def _slow(case: Any) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.slow))
    values = case if isinstance(case, tuple | list) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
