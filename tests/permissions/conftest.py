"""A world of people and objects; a test asks hundreds of addresses in it, and each request is undone."""

from __future__ import annotations

import pytest

from tests.permissions.objects import Everything


@pytest.fixture
def everything(db: None) -> Everything:
    """People of every role, and objects of every kind."""
    return Everything()
