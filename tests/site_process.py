"""Run the product as users start it, with its own database. All tests of an xdist worker share one product."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from core.niceness import session_niceness, set_session_niceness
from tests.ports import free_port
from tests.standin_process import StandIn
from tests.template import NAME as TEMPLATE
from tests.template import wait_for_template

ROOT = Path(__file__).resolve().parents[1]
PASSWORD = "a test's own passphrase"
PEOPLE = {
    "rita": "reviewer",
    "rolf": "reviewer",
    "carla": "curator",
    "mona": "manager",
    "adam": "administrator",
}


@dataclass(frozen=True)
class Site:
    """A running ScriptSmith product."""

    url: str
    data: Path
    environment: dict[str, str]
    supervisor: int  # process id
    shell: subprocess.Popen[str]

    def run(self, lines: str) -> str:
        """Run these lines of Python in one transaction on this site's database and return their output."""
        assert self.shell.stdin and self.shell.stdout
        number = next(_numbers)
        self.shell.stdin.write(json.dumps([number, lines]) + "\n")
        self.shell.stdin.flush()
        answer = {"number": 0}
        while answer["number"] != number:  # earlier answers belong to tests that timed out
            answer = json.loads(self.shell.stdout.readline())
        assert not answer["wrong"], answer["wrong"]
        return str(answer["said"])

    def keep_rows(self) -> None:
        """Copy the rows of all tables, so that `restore_rows` can restore them."""
        with psycopg.connect(self.environment["DATABASE_URL"]) as connection:
            connection.execute("CREATE SCHEMA kept")
            for table, _names in connection.execute(_COLUMNS).fetchall():
                connection.execute(f"CREATE TABLE kept.{table} AS TABLE {table}")

    def restore_rows(self) -> None:
        """Restore all tables from the copies that `keep_rows` made. Keys are not reused, because processes may have
        cached them."""
        while True:
            # A worker that holds other locks while it waits for these can cause a deadlock.
            with suppress(psycopg.errors.DeadlockDetected):
                return self._restore_rows()

    def _restore_rows(self) -> None:
        with psycopg.connect(self.environment["DATABASE_URL"]) as connection:
            columns = dict(connection.execute(_COLUMNS).fetchall())
            connection.execute(f"TRUNCATE {', '.join(columns)}")
            for table, names in columns.items():
                rows = f"SELECT {names} FROM kept.{table}"
                connection.execute(f"INSERT INTO {table} ({names}) {rows}")

    def child(self, words: str) -> int:
        """Return the process ID of the supervisor's child whose command line contains this text."""
        for one in self.children_of(self.supervisor):
            try:
                command = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if words in command:
                return one
        raise LookupError(words)

    def children_of(self, process: int) -> list[int]:
        """Return the process IDs of this process's children."""
        found = []
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                parent = int(status.read_text().split("PPid:")[1].split()[0])
            except (OSError, IndexError):
                continue
            if parent == process:
                found.append(int(status.parent.name))
        return found


_numbers = itertools.count(1)


# List each table of the product with its insertable columns.
_COLUMNS = """
SELECT quote_ident(relname), string_agg(quote_ident(attname), ', ')
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
    AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
GROUP BY relname
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("site")
    port = free_port()
    database = f"browser_{os.getpid()}"
    admin_url = os.environ["DATABASE_URL"]
    wait_for_template()
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database} TEMPLATE {TEMPLATE}")
    environment = {
        **os.environ,
        "DATABASE_URL": _with_database(admin_url, database),
        "REDIS_URL": _own_broker(os.environ["REDIS_URL"]),
        "SCRIPTSMITH_DATA": str(data),
        "SCRIPTSMITH_FILES": str(data / "files"),
        # The copied database was created with this key.
        "SCRIPTSMITH_SECRET_KEY": settings.SECRET_KEY,
        "SCRIPTSMITH_DEMO": "False",
        "SCRIPTSMITH_EMBEDDER": "minilm",
        "SCRIPTSMITH_ENDPOINTS": "demo",
        "SCRIPTSMITH_RUN_LEASE_SECONDS": "5",
        "SCRIPTSMITH_OUT_NETWORKS": "127.0.0.0/8",
        # A test of single sign-on starts its identity provider at this address.
        "SCRIPTSMITH_OIDC_ISSUER": f"http://localhost:{free_port()}",
        "SCRIPTSMITH_OIDC_NAME": "Corporate ID",
        "SCRIPTSMITH_OIDC_CLIENT_ID": "scriptsmith",
        "SCRIPTSMITH_OIDC_CLIENT_SECRET": "a secret",
        "SCRIPTSMITH_OIDC_ENTRY_GROUPS": "operations",
        "SCRIPTSMITH_OIDC_ROLES": "reviewer=sre;curator=sre-leads",
        "SCRIPTSMITH_MIRROR_FOLDER": str(data / "repositories"),
        "PORT": str(port),
        "DJANGO_SETTINGS_MODULE": "scriptsmith_site.settings",
    }
    log = (data / "supervisor.log").open("w")
    demo_model = StandIn().start()
    environment["SCRIPTSMITH_DEMO_MODEL_URL"] = demo_model.url
    process = subprocess.Popen(
        [sys.executable, "-m", "scriptsmith_site.embedded", "--with-parent"],
        cwd=ROOT,
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    shell = subprocess.Popen(
        [sys.executable, "-m", "tests.shell"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, process, data / "supervisor.log")
        made = Site(url, data, environment, process.pid, shell)
        _share_processors_with(made.child("scriptsmith sandbox worker"))
        made.run(_PEOPLE_SCRIPT.format(people=PEOPLE, password=PASSWORD))
        made.keep_rows()
        yield made
    finally:
        for one in (process, shell):
            one.terminate()
        for one in (process, shell):
            one.wait(timeout=180)
        demo_model.stop()
        log.close()


def _share_processors_with(sandbox_worker: int) -> None:
    """Reset the sandbox worker's niceness. Tests keep the processors busy while they wait for its results."""
    deadline = time.monotonic() + 120
    while session_niceness(sandbox_worker) == 0:  # the worker has not set it yet
        assert time.monotonic() < deadline
        time.sleep(0.05)
    set_session_niceness(0, pid=sandbox_worker, patience=5.0)


def _with_database(url: str, database: str) -> str:
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def _own_broker(url: str) -> str:
    """Return the URL of a Redis database that only this test worker uses, so that other sites do not receive its
    messages."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + 1
    if url.startswith("redis+socket:"):
        return f"{url}?virtual_host={number}"
    return urlsplit(url)._replace(path=f"/{number}").geturl()


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the web server responds, or raise AssertionError with the supervisor's log."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=30):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(log.read_text())


_PEOPLE_SCRIPT = """
from django.contrib.auth.models import Group, User
for name, role in {people!r}.items():
    user = User.objects.create_user(name, password={password!r}, first_name=name.capitalize())
    user.groups.add(Group.objects.get(name=role))
"""
