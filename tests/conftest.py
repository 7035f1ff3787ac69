"""No network but loopback, and people with roles. The servers are started by tests/early.py."""

from __future__ import annotations

import socket
from collections.abc import Generator, Iterator

import pytest
from django.apps import apps
from django.db import connections, transaction
from hypothesis import settings
from pytest_django import DjangoDbBlocker
from pytest_django.plugin import blocking_manager_key

from pipeline.migrations import _endpoints_and_presets
from review.migrations import _live_queue
from tests import emptying
from tests.template import NAME as TEMPLATE
from tests.template import wait_for_template

# The same examples each time, however long a busy machine takes for one of them.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


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


@pytest.fixture(scope="module")
def module_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A transaction around all tests of a module: what fixtures of the module make in it is made once.

    Each test's own changes are undone as ever, and those rows after the last one. Not for tests with real
    transactions. Who makes rows takes `django_db_blocker.unblock()`.
    """
    around = transaction.atomic()
    with django_db_blocker.unblock():
        around.__enter__()
    yield
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Put back the rows that migrations create: a test with real transactions ends by emptying the tables."""
    result = yield
    marker = item.get_closest_marker("django_db")
    # One that was skipped has emptied nothing; after the last test there is no database any more.
    has_run = bool(getattr(item, "funcargs", None))
    if has_run and nextitem is not None and marker is not None and marker.kwargs.get("transaction"):
        with item.config.stash[blocking_manager_key].unblock():
            for default_rows in (_endpoints_and_presets, _live_queue):
                default_rows.make(apps, None)
    return result


@pytest.fixture(scope="session")
def django_db_modify_db_settings_parallel_suffix(
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """Each worker's database is a copy of one that is migrated."""
    wait_for_template()
    for database in connections.settings.values():
        database["TEST"]["TEMPLATE"] = TEMPLATE


emptying.install()

pytest_plugins = ["tests.people", "tests.site_process"]
