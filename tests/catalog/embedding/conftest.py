"""The embedding model, built once for the tests in this folder."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from catalog.embedding.minilm import MiniLMEmbedder
from catalog.embedding.weights import PACKAGE


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder with the built model."""
    if find_spec(PACKAGE) is None:
        pytest.skip(f"{PACKAGE} is not installed, so there are no weights to test with")
    cache = tmp_path_factory.mktemp("models")
    MiniLMEmbedder(cache).load()
    return cache


@pytest.fixture(scope="session")
def minilm(model_cache: Path) -> MiniLMEmbedder:
    """Return the default embedder, ready to use."""
    return MiniLMEmbedder(model_cache)
