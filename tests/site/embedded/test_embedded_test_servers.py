"""Tests that the servers of a test run stop when the run ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests import servers
from tests.first_cases import first_cases

pytestmark = pytest.mark.slow

STARTER = """
import json, sys
from tests.servers import start_test_servers
started = start_test_servers()
print(json.dumps([started.database_url, started.keeper.pid]), flush=True)
sys.stdin.read()
started.stop()
"""


@pytest.mark.parametrize("killed", first_cases(1, ["pytest", "nobody", "keeper"]))
def test_nothing_outlives_the_tests(place, until, killed: str) -> None:
    pytest_itself = place.start("-c", STARTER)
    url, keeper = json.loads(pytest_itself.stdout.readline())
    with psycopg.connect(url) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("off",)
    sockets = Path(parse_qs(urlsplit(url).query)["host"][0])
    folder = Path("/").joinpath(*sockets.parts[:3])
    if killed == "nobody":
        pytest_itself.communicate(timeout=90)
    else:
        os.kill({"pytest": pytest_itself.pid, "keeper": keeper}[killed], signal.SIGKILL)
    until(lambda: not (sockets / ".s.PGSQL.5432").exists())
    if killed == "keeper":
        shutil.rmtree(folder)
    until(lambda: not folder.exists())


@pytest.mark.nightly
def test_a_server_of_ones_own_is_used_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_DATABASE_URL", "postgresql://mine/x")
    monkeypatch.setenv("TEST_REDIS_URL", "redis://mine")
    started = servers.start_test_servers()
    assert (started.database_url, started.redis_url) == ("postgresql://mine/x", "redis://mine")
    folder = Path(started.data).parent
    assert not list(folder.glob("outside/*/postgres"))
    started.stop()
    assert not folder.exists()
