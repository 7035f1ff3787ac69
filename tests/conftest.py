"""No network but loopback, and people with roles. The servers are started by tests/early.py."""

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

# The same examples each time, however long a busy machine takes for one of them.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """A socket of this process reaches loopback and Unix paths, nothing else."""
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
    """No query for curators' rules, which every page may make once in some seconds, and none of an earlier test."""
    cache.set(CACHE_KEY, {}, None)
    yield
    cache.delete(CACHE_KEY)


_HOLDS_ROWS = pytest.StashKey[bool]()


class PlainSubtests:
    """Subtests with ASCII names: xdist can send neither enums nor lone surrogates to the process that reports."""

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
    """Open a transaction around all tests of a module, so that the module's fixtures create their rows once.

    Each test's own changes are still rolled back. Fixtures that create rows use `django_db_blocker.unblock()`.
    Modules with `transaction=True` tests can't use this.
    """
    with django_db_blocker.unblock():
        transaction.atomic().__enter__()
    request.node.stash[_HOLDS_ROWS] = True
    yield
    request.node.stash[_HOLDS_ROWS] = False
    with django_db_blocker.unblock():
        # Reconnecting also resets the state that Django keeps of a transaction, in case a timeout broke it.
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
    """Repair the database after tests with real transactions, which empty the tables, and after timeouts."""
    raw = connection.connection
    if raw is not None and raw.info.transaction_status == TransactionStatus.ACTIVE:
        raw.cancel_safe()  # otherwise the statement keeps its locks after the connection is closed
        connection.close()
    try:
        result = yield
    finally:
        module = item.getparent(pytest.Module)
        if module and module.stash.get(_HOLDS_ROWS, False) and _is_module_transaction_broken():
            # The next test of the module sets up the module's fixtures again.
            item.session._setupstate.teardown_exact(module.parent)
    marker = item.get_closest_marker("django_db")
    is_marked = marker is not None and bool(marker.kwargs.get("transaction"))
    has_emptied = is_marked or not {"transactional_db", "live_server"}.isdisjoint(
        getattr(item, "fixturenames", ())
    )
    # A skipped test has emptied nothing, and after the last test the database is gone.
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
    """Each worker's database is a copy of one that is migrated."""
    wait_for_template()
    for database in connections.settings.values():
        database["TEST"]["TEMPLATE"] = TEMPLATE


emptying.install()

pytest_plugins = ["tests.people", "tests.site_process"]
