"""Run PostgreSQL and Redis for a test run, in a keeper process that stops with its parent."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import make_data_folder
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.servers.holders import Server
from scriptsmith_site.embedded.servers.postgres import Postgres
from scriptsmith_site.embedded.servers.redis import Redis
from scriptsmith_site.embedded.supervision.processes import end_with_parent

_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class TestServers:
    """The addresses of both servers, a folder for SCRIPTSMITH_DATA, and the keeper process."""

    __test__ = False

    database_url: str
    redis_url: str
    data: str
    keeper: subprocess.Popen[str]

    def stop(self) -> None:
        """Stop the servers and remove the folder."""
        self.keeper.communicate()


def start_test_servers() -> TestServers:
    """Start and return the servers, or raise CannotStart. If set, TEST_DATABASE_URL and TEST_REDIS_URL replace them."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.servers"],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C must reach only pytest, which stops the servers
    )
    answer = keeper.stdout.readline()
    if not answer:
        raise CannotStart(f"the test servers did not start (exit {keeper.wait()}); see above")
    found = json.loads(answer)
    return TestServers(found["database_url"], found["redis_url"], found["data"], keeper)


# Autovacuum cannot see a running test's rows, so its statistics would describe empty tables. Queries that normally take
# a second would then sometimes take minutes.
_PLANS = {"autovacuum": "off"}


def _keep() -> None:
    """Start the servers that are not given, print their addresses, and stop when standard input is closed."""
    folder = Path(tempfile.mkdtemp(prefix="scriptsmith-tests-", dir="/tmp"))
    folder.chmod(0o711)  # If run as root, PostgreSQL's own user must be able to enter the folder.
    layout = Layout(folder / "data", outside=folder / "outside")
    servers: list[Server] = []
    database_url = os.environ.get("TEST_DATABASE_URL")
    if not database_url:
        preexec = end_with_parent(signal.SIGQUIT)
        servers.append(Postgres(layout, durable=False, settings=_PLANS, preexec=preexec))
    redis_url = os.environ.get("TEST_REDIS_URL")
    if not redis_url:
        servers.append(Redis(layout, preexec=end_with_parent(signal.SIGTERM)))
    try:
        make_data_folder(layout)
        for server in servers:
            server.start()
        found = {
            "database_url": database_url or layout.database_url(),
            "redis_url": redis_url or layout.redis_url(),
            "data": str(folder / "product"),
        }
        print(json.dumps(found), flush=True)
        sys.stdin.read()
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        _keep()
    except CannotStart as error:
        sys.exit(str(error))
