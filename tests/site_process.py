"""The product as people start it: its own supervisor with web, worker and demo model, on a database of its own.

One set of processes for each worker of the suite, shared by the browser tests and by those that kill a part of it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from tests.ports import free_port
from tests.template import NAME as TEMPLATE
from tests.template import wait_for_template

ROOT = Path(__file__).resolve().parents[1]
PASSWORD = "a test's own passphrase"
PEOPLE = {"rita": "reviewer", "rolf": "reviewer", "carla": "curator", "adam": "administrator"}


@dataclass(frozen=True)
class Site:
    """A running ScriptSmith."""

    url: str
    data: Path
    environment: dict[str, str]
    supervisor: int  # process id
    shell: subprocess.Popen[str]

    def run(self, lines: str) -> str:
        """What some lines of Python print, in a transaction on this site's database; fails with their traceback."""
        assert self.shell.stdin and self.shell.stdout
        self.shell.stdin.write(json.dumps(lines) + "\n")
        self.shell.stdin.flush()
        answer = json.loads(self.shell.stdout.readline())
        assert not answer["wrong"], answer["wrong"]
        return str(answer["said"])

    def child(self, words: str) -> int:
        """The process id of the supervisor's child whose command line holds these words."""
        for one in self.children_of(self.supervisor):
            try:
                command = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if words in command:
                return one
        raise LookupError(words)

    def children_of(self, process: int) -> list[int]:
        """The process ids of its children."""
        found = []
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                parent = int(status.read_text().split("PPid:")[1].split()[0])
            except (OSError, IndexError):
                continue
            if parent == process:
                found.append(int(status.parent.name))
        return found


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("site")
    port = free_port()
    database = f"browser_{os.getpid()}"
    admin_url = os.environ["DATABASE_URL"]
    wait_for_template()
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database} TEMPLATE {TEMPLATE}")  # type: ignore[arg-type]
    environment = {
        **os.environ,
        "DATABASE_URL": _with_database(admin_url, database),
        "REDIS_URL": _own_broker(os.environ["REDIS_URL"]),
        "SCRIPTSMITH_DATA": str(data),
        "SCRIPTSMITH_FILES": str(data / "files"),
        # The key that the database which was copied is used with.
        "SCRIPTSMITH_SECRET_KEY": settings.SECRET_KEY,
        "SCRIPTSMITH_DEMO": "False",
        "SCRIPTSMITH_EMBEDDER": "minilm",
        "SCRIPTSMITH_ENDPOINTS": "demo",
        "SCRIPTSMITH_RUN_LEASE_SECONDS": "5",
        "SCRIPTSMITH_OUT_NETWORKS": "127.0.0.0/8",
        # A provider to sign in with: a test that does so begins one there.
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
    demo_model = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pipeline.standin",
            "--port",
            "0",
            "--announce",
            str(data / "model.json"),
        ],
        cwd=ROOT,
    )
    environment["SCRIPTSMITH_DEMO_MODEL_URL"] = (
        f"http://127.0.0.1:{_announced_port(data / 'model.json')}"
    )
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
        made.run(_PEOPLE_SCRIPT.format(people=PEOPLE, password=PASSWORD))
        yield made
    finally:
        for one in (process, demo_model, shell):
            one.send_signal(signal.SIGTERM)
        for one in (process, demo_model, shell):
            one.wait(timeout=180)
        log.close()


def _with_database(url: str, database: str) -> str:
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def _own_broker(url: str) -> str:
    """A database of the Redis for each worker of the suite, or one site would take the other's messages."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) + 1
    if url.startswith("redis+socket:"):
        return f"{url}?virtual_host={number}"
    return urlsplit(url)._replace(path=f"/{number}").geturl()


def _announced_port(path: Path) -> int:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline, "the demo model did not start"
        time.sleep(0.05)
    return int(json.loads(path.read_text())["port"])


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the web server answers; fails with what its supervisor wrote where it does not."""
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
