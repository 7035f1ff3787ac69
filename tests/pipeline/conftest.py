"""The demo model, with one process for each worker of the suite and a reset before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.standin_process import StandIn


@pytest.fixture(scope="session")
def standin_process() -> Iterator[StandIn]:
    with StandIn() as standin:
        yield standin


@pytest.fixture
def standin(standin_process: StandIn, settings: Settings) -> StandIn:
    """Return the demo model, which serves the demo endpoint of this test."""
    standin_process.reset()
    settings.SCRIPTSMITH_DEMO_MODEL_URL = standin_process.url
    return standin_process
