"""The demo model, reset before each test, and a server that misbehaves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.hostile import Hostile
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


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    with Hostile(drip_seconds=0.05) as server:
        yield server
