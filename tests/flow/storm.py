"""Run a whole product on a copied database. Tests kill its parts while the demo model counts calls."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import redis
from django.conf import settings

from scriptsmith_site.embedded.folders import make_data_folder
from scriptsmith_site.embedded.layout import Layout, redis_client_url
from scriptsmith_site.embedded.servers.binaries import find_postgres
from scriptsmith_site.embedded.servers.postgres import Postgres
from scriptsmith_site.embedded.supervision import processes
from tests.standin_process import ROOT, StandIn

WORK_GOES_ON_WITHIN = 60.0  # seconds
_READY_SECONDS = 90.0


@dataclass(frozen=True)
class Account:
    """The counts in the ledger and in the model's log."""

    states: dict[str, int]  # runs by state
    answered: int
    answered_twice: int  # calls with more than one answer in the ledger
    possibly_billed: int
    orphaned: int
    billed: int  # calls that the model billed

    @property
    def extra(self) -> int:
        """Return the number of billed calls without an answer in the ledger."""
        return self.billed - self.answered


class Storm:
    """A running product and its demo model."""

    def __init__(self, layout: Layout, standin: StandIn, environment: dict[str, str]) -> None:
        self._layout = layout
        # Another worker needs these variables to join the product.
        self.environment = environment | {
            "DATABASE_URL": layout.database_url(),
            "REDIS_URL": layout.redis_url(),
        }
        self.supervisor = 0  # process ID, once the supervisor runs
        self.standin = standin
        # The model logs each call as one line of JSON, which survives every kill.
        self.standin_log = Path(environment["SCRIPTSMITH_STORM_LOG"])
        # Rows from before this time came with the copied database.
        self._began = datetime.now(UTC)

    def kill_worker(self) -> None:
        """Kill the worker, including its scheduler thread."""
        self._kill(self._is_worker)

    def stop_worker(self) -> None:
        """Send SIGTERM to the worker. The supervisor starts a new worker after it exits."""
        for pid in processes.find(self._is_worker):
            os.kill(pid, signal.SIGTERM)

    def kill_redis(self) -> None:
        self._kill(
            lambda pid: (
                "redis" in processes.command_name(pid)
                and processes.working_folder(pid) == self._layout.redis_data
            )
        )

    def kill_postgres(self) -> None:
        folder = str(self._layout.postgres_data)
        self._kill(lambda pid: processes.command_line(pid)[1:3] == ["-D", folder])

    def empty_broker(self) -> None:
        with redis.Redis.from_url(redis_client_url(self._layout.redis_url())) as client:
            client.flushall()

    def in_flight(self) -> int:
        """Return the number of calls that the model is currently answering."""
        return sum(call["ended"] is None for call in self.standin.calls())

    def unfinished(self) -> int:
        """Return the number of unfinished runs, or `sys.maxsize` while the database is down."""
        try:
            return int(self._ask_database(
                "SELECT count(*) FROM pipeline_run WHERE state IN ('queued', 'running')"
            )[0][0])  # fmt: skip
        except psycopg.OperationalError:
            return sys.maxsize

    def went_on_after(self, moment: float) -> float | None:
        """Return the seconds between `moment` and the first answer to a later call. Return None if no later call was
        answered."""
        try:
            rows = self._ask_database(
                "SELECT extract(epoch FROM min(ended_at))::float8 FROM pipeline_attempt"
                f" WHERE outcome = 'answered' AND started_at > to_timestamp({moment})"
            )
        except psycopg.OperationalError:
            return None
        return float(str(rows[0][0])) - moment if rows[0][0] is not None else None

    def account(self) -> Account:
        """Return the counts of the ledger and of the model. Call this only after all runs have ended."""
        states = self._ask_database(
            "SELECT state, count(*) FROM pipeline_run"
            f" WHERE coalesce(finished_at, now()) >= '{self._began}' GROUP BY state"
        )
        sums = self._ask_database(
            "SELECT count(*) FILTER (WHERE outcome = 'answered'),"
            " count(*) FILTER (WHERE outcome = 'answered')"
            " - count(DISTINCT call_id) FILTER (WHERE outcome = 'answered'),"
            " count(*) FILTER (WHERE possibly_billed),"
            " count(*) FILTER (WHERE outcome = 'orphaned')"
            f" FROM pipeline_attempt WHERE started_at >= '{self._began}'"
        )[0]
        answered, twice, possibly, orphaned = (int(str(value)) for value in sums)
        return Account(
            states={str(state): int(str(count)) for state, count in states},
            answered=answered,
            answered_twice=twice,
            possibly_billed=possibly,
            orphaned=orphaned,
            billed=self.standin.totals()["billed"],
        )

    def ask(self, query: str) -> list[tuple[object, ...]]:
        """Return the rows of a query on the product's database."""
        return self._ask_database(query)

    def _ask_database(self, query: str) -> list[tuple[object, ...]]:
        url = self._layout.database_url()
        with psycopg.connect(url, connect_timeout=5) as connection:
            return connection.execute(query.encode()).fetchall()

    def _is_worker(self, pid: int) -> bool:
        is_child = processes.parent(pid) == self.supervisor
        return is_child and processes.command_line(pid)[:1] == ["scriptsmith worker"]

    @staticmethod
    def _kill(matches: Callable[[int], bool]) -> None:
        found = processes.find(matches)
        assert found, "there is nothing to kill"
        for pid in found:
            processes.send(pid, signal.SIGKILL)


@contextmanager
def storm(
    database_url: str, *, latency: float, lease: float, faults: Sequence[dict[str, object]] = ()
) -> Iterator[Storm]:
    """Run the product on a copy of this database and delete it afterwards. `latency` and `lease` are in seconds."""
    folder = Path(tempfile.mkdtemp(prefix="scriptsmith-storm-", dir="/tmp"))
    folder.chmod(0o711)  # If run as root, PostgreSQL's own user must be able to enter the folder.
    layout = Layout(folder / "data", outside=folder / "outside")
    try:
        _copy_database(database_url, layout)
        log = folder / "calls.jsonl"
        log.touch()
        with StandIn("--latency", str(latency), "--log", str(log)) as standin:
            standin.faults(*faults)
            environment = _environment(folder, standin, lease=lease)
            environment["SCRIPTSMITH_STORM_LOG"] = str(log)
            product = Storm(layout, standin, environment)
            with _supervisor(folder, environment) as product.supervisor:
                yield product
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_database(url: str, layout: Layout) -> None:
    make_data_folder(layout)
    server = Postgres(layout, durable=False)
    server.start()
    try:
        programs = find_postgres() / "bin"
        dump = [programs / "pg_dump", "--no-owner", "--no-privileges", url]
        restore = [programs / "psql", "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1"]
        with subprocess.Popen(dump, stdout=subprocess.PIPE) as dumping:
            subprocess.run(
                [*restore, layout.database_url()],
                stdin=dumping.stdout,
                stdout=subprocess.DEVNULL,
                check=True,
            )
    finally:
        server.stop()


def wait_until(holds: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Wait until the condition is true, or raise AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come about within {seconds:.0f} s"
        time.sleep(0.05)


def _environment(folder: Path, standin: StandIn, *, lease: float) -> dict[str, str]:
    own = {
        "SCRIPTSMITH_DATA": str(folder / "data"),
        # The copied database was created with this key.
        "SCRIPTSMITH_SECRET_KEY": settings.SECRET_KEY,
        "SCRIPTSMITH_POSTGRES_FOLDER": str(folder / "outside"),
        "SCRIPTSMITH_DEMO": "False",
        "SCRIPTSMITH_DEMO_MODEL_URL": standin.url,
        "SCRIPTSMITH_EMBEDDER": "hashing",
        "SCRIPTSMITH_ENDPOINTS": "demo",
        "SCRIPTSMITH_RUN_LEASE_SECONDS": str(lease),
        "PORT": "0",
        "DJANGO_SETTINGS_MODULE": "scriptsmith_site.settings",
    }
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL")
    }
    return inherited | own


@contextmanager
def _supervisor(folder: Path, environment: dict[str, str]) -> Iterator[int]:
    log = folder / "supervisor.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "scriptsmith_site.embedded", "--with-parent"],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + _READY_SECONDS
        while b"Press Ctrl-C to stop" not in log.read_bytes():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield process.pid
    except AssertionError as error:
        logs = {
            path.name: path.read_text(errors="replace")[-3000:]
            for path in folder.glob("data/logs/*.log")
        }
        raise AssertionError(f"{error}\n{log.read_text()}\n{json.dumps(logs, indent=1)}") from error
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
