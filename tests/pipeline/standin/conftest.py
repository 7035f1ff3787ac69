"""One stand-in process for this folder, and the real SDK that speaks to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from anthropic import Anthropic

from tests.pipeline.standin.asking import ACTION, Client
from tests.standin_process import StandIn


@pytest.fixture(scope="session")
def actions_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One action file with a broken draft, its repair, and a refinement."""
    folder = tmp_path_factory.mktemp("actions")
    (folder / "01-staging.yaml").write_text(ACTION)
    return folder


@pytest.fixture(scope="session")
def standin_process(actions_folder: Path) -> Iterator[StandIn]:
    with StandIn("--actions", str(actions_folder), "--batch-seconds", "0.1") as process:
        yield process


@pytest.fixture
def standin(standin_process: StandIn) -> StandIn:
    """The stand-in, with nothing remembered."""
    standin_process.reset()
    return standin_process


@pytest.fixture(scope="session")
def sdk(standin_process: StandIn) -> Iterator[Client]:
    """Return the SDK as the product uses it: explicit key, no retries of its own."""
    with Anthropic(api_key="any", base_url=standin_process.url, max_retries=0, timeout=60) as made:
        yield made


@pytest.fixture
def client(standin: StandIn, sdk: Client) -> Client:
    """Return the SDK, with a stand-in that remembers nothing."""
    return sdk
