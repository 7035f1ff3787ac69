"""No network but loopback, and people with roles. The servers are started by tests/early.py."""

from __future__ import annotations

import socket
from collections.abc import Generator, Iterator
from importlib import import_module

import pytest
from django.apps import apps
from pytest_django.plugin import blocking_manager_key


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """A socket of this process reaches loopback and Unix paths, nothing else."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])  # type: ignore[index]
            if host not in ("localhost", "::1") and not host.startswith("127."):
                raise RuntimeError(f"a test reached for the network: {address!r}")
        real(self, address)  # type: ignore[arg-type]

    socket.socket.connect = connect  # type: ignore[method-assign, assignment]
    yield
    socket.socket.connect = real  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """A test with real transactions ends by emptying every table: what migrations put there is put back."""
    result = yield
    marker = item.get_closest_marker("django_db")
    if marker is not None and marker.kwargs.get("transaction"):
        with item.config.stash[blocking_manager_key].unblock():
            for migration in (
                "pipeline.migrations.0002_endpoints_and_presets",
                "review.migrations.0002_live_queue",
            ):
                import_module(migration).make(apps, None)
    return result


pytest_plugins = ["tests.people", "tests.site_process"]
