"""The sandbox of this machine, which is probed once. Without a sandbox, tests that need one are skipped with a
reason."""

from __future__ import annotations

import pytest

from catalog.execution.sandbox import Availability, Sandbox, find_sandbox


@pytest.fixture(scope="session")
def availability() -> Availability:
    return find_sandbox()


@pytest.fixture
def sandbox(availability: Availability) -> Sandbox:
    if availability.sandbox is None:
        pytest.skip(f"no sandbox here: {availability.reason} {availability.remedy}")
    return availability.sandbox
