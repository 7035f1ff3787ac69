"""One demo model process for the tests in this folder, and the real SDK."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from anthropic import Anthropic

from tests.pipeline.standin.asking import ACTION, Client
from tests.standin_process import StandIn


@pytest.fixture(scope="session")
def actions_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one action file: a broken draft, its repair, and a refinement."""
    folder = tmp_path_factory.mktemp("actions")
    (folder / "01-staging.yaml").write_text(ACTION)
    return folder


@pytest.fixture(scope="session")
def standin_process(actions_folder: Path) -> Iterator[StandIn]:
    with StandIn("--actions", str(actions_folder), "--batch-seconds", "0.1") as process:
        yield process


@pytest.fixture
def standin(standin_process: StandIn) -> StandIn:
    """Return the demo model after a reset."""
    standin_process.reset()
    return standin_process


@pytest.fixture(scope="session")
def sdk(standin_process: StandIn) -> Iterator[Client]:
    """Return the SDK as the product uses it, with an explicit key and without retries."""
    with Anthropic(api_key="any", base_url=standin_process.url, max_retries=0, timeout=60) as made:
        yield made


@pytest.fixture
def client(standin: StandIn, sdk: Client) -> Client:
    """Return the SDK with a demo model after a reset."""
    return sdk
