"""Fixtures for all tests: network access limited to loopback, users with roles, and database repair after tests."""

from __future__ import annotations

import socket
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connection, connections, transaction
from hypothesis import settings
from psycopg.pq import TransactionStatus
from pytest_django import DjangoDbBlocker
from pytest_django.plugin import blocking_manager_key

from catalog.models.tool_rule import CACHE_KEY
from pipeline.migrations import _endpoints_and_presets
from review.migrations import _live_queue
from tests import emptying
from tests.template import NAME as TEMPLATE
from tests.template import wait_for_template

# Generate the same examples in every run. Set no deadline, because the machine may be busy.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """Block connections from this process, except to loopback addresses and Unix sockets."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if host not in ("localhost", "::1") and not host.startswith("127."):
                raise RuntimeError(f"a test reached for the network: {address!r}")
        real(self, address)

    socket.socket.connect = connect
    yield
    socket.socket.connect = real


@pytest.fixture(autouse=True)
def _no_tool_rules() -> Iterator[None]:
    """Cache an empty list of tool rules, so that pages do not query them and tests do not share them."""
    cache.set(CACHE_KEY, {}, None)
    yield
    cache.delete(CACHE_KEY)


_HOLDS_ROWS = pytest.StashKey[bool]()


class PlainSubtests:
    """Subtests with ASCII names, because xdist workers cannot send enums or unpaired surrogates."""

    def __init__(self, subtests: pytest.Subtests) -> None:
        self._subtests = subtests

    def test(self, msg: object = "", **values: object) -> AbstractContextManager[None]:
        plain = {name: ascii(value) for name, value in values.items()}
        return self._subtests.test(ascii(str(msg))[1:-1], **plain)


@pytest.fixture
def subtests(subtests: pytest.Subtests) -> PlainSubtests:
    return PlainSubtests(subtests)


@pytest.fixture(scope="module")
def module_rows(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Open a transaction around all tests of a module, so that the module's fixtures create their rows only once.

    Each test's own changes are still rolled back. Fixtures that create rows use `django_db_blocker.unblock()`. Modules
    with `transaction=True` tests can't use this fixture.
    """
    with django_db_blocker.unblock():
        transaction.atomic().__enter__()
    request.node.stash[_HOLDS_ROWS] = True
    yield
    request.node.stash[_HOLDS_ROWS] = False
    with django_db_blocker.unblock():
        # Reconnecting also resets Django's transaction state, which a timeout may have broken.
        connection.close()
        connection.connect()


def _is_module_transaction_broken() -> bool:
    return (
        not connection.in_atomic_block
        or connection.needs_rollback
        or bool(connection.savepoint_ids)
        or connection.connection.info.transaction_status != TransactionStatus.INTRANS
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Repair the database after timeouts and after tests with real transactions, which empty the tables."""
    raw = connection.connection
    if raw is not None and raw.info.transaction_status == TransactionStatus.ACTIVE:
        raw.cancel_safe()  # otherwise the statement keeps its locks after the connection closes
        connection.close()
    try:
        result = yield
    finally:
        module = item.getparent(pytest.Module)
        if module and module.stash.get(_HOLDS_ROWS, False) and _is_module_transaction_broken():
            # Tear down the module's fixtures, so that its next test sets them up again.
            item.session._setupstate.teardown_exact(module.parent)
    marker = item.get_closest_marker("django_db")
    is_marked = marker is not None and bool(marker.kwargs.get("transaction"))
    has_emptied = is_marked or not {"transactional_db", "live_server"}.isdisjoint(
        getattr(item, "fixturenames", ())
    )
    # A skipped test does not empty the tables. After the last test, the database is dropped.
    has_run = bool(getattr(item, "funcargs", None))
    if has_run and nextitem is not None and has_emptied:
        with item.config.stash[blocking_manager_key].unblock():
            for default_rows in (_endpoints_and_presets, _live_queue):
                default_rows.make(apps, None)
    return result


@pytest.fixture(scope="session")
def django_db_modify_db_settings_parallel_suffix(
    django_db_modify_db_settings_parallel_suffix: None,
) -> None:
    """Create each worker's database as a copy of the migrated template."""
    wait_for_template()
    for database in connections.settings.values():
        database["TEST"]["TEMPLATE"] = TEMPLATE


emptying.install()

pytest_plugins = ["tests.people", "tests.site_process"]
