"""The embedded PostgreSQL server, one per data folder. It listens only on a Unix socket."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import cannot_write, make_private
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.servers.binaries import copy_for_everyone, find_postgres
from scriptsmith_site.embedded.servers.cluster import (
    CLEAN_ENVIRONMENT,
    check_version,
    complaints,
    make_cluster,
)
from scriptsmith_site.embedded.servers.machine_memory import memory_bytes, shared_memory_bytes
from scriptsmith_site.embedded.servers.ordinary_user import (
    Account,
    find_postgres_account,
    make_outside_home,
)
from scriptsmith_site.embedded.supervision import processes

_MIB = 1024 * 1024
_START_SECONDS = 300.0  # recovery after a crash during a large import takes several minutes
_NOT_DURABLE = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


class Postgres:
    """The PostgreSQL server of one data folder, started by this or another process.

    With `durable=False`, writes do not wait for the disk, so a crash may lose data. `settings` override the defaults.
    `preexec` runs in the server's process before the program starts.
    """

    name = "PostgreSQL"

    def __init__(
        self,
        layout: Layout,
        *,
        durable: bool = True,
        settings: Mapping[str, str] | None = None,
        preexec: Callable[[], None] | None = None,
    ) -> None:
        self._layout = layout
        self._data = layout.postgres_data
        self._log = layout.logs / "postgres.log"
        self._cluster = f"scriptsmith-{layout.key}"
        self._durable = durable
        self._own_settings = dict(settings or {})
        self._preexec = preexec
        self._process: subprocess.Popen[bytes] | None = None

    def is_running(self) -> bool:
        """Return whether the server accepts connections."""
        if self._process is not None:
            self._process.poll()  # reap the process if it has exited
        return self._says_ready() and self._answers()

    def how_ended(self) -> str:
        """Return a sentence that says why the server does not respond, or an empty string if it responds."""
        return "" if self.is_running() else processes.describe_end(self.name, self._process)

    def start(self) -> None:
        """Start the server and wait until it accepts connections. A running server stays unchanged.

        The caller must hold the change lock. Raises CannotStart.
        """
        if self.is_running():
            return
        account = find_postgres_account(self._layout)
        try:
            self._start(account)
        except PermissionError as error:
            if account.uid is None:
                raise cannot_write(Path(error.filename or self._data), error) from error
            raise CannotStart(
                f"can't run PostgreSQL as the user {account.name}: {error.strerror}. Run ScriptSmith "
                "as an ordinary user, or set DATABASE_URL to another server"
            ) from error
        except OSError as error:
            raise cannot_write(Path(error.filename or self._data), error) from error

    def stop(self) -> None:
        """Stop the server after it has written all data. Open transactions are rolled back."""
        processes.end(self._postmasters(), (signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0))
        self._end_orphans()
        if self._process is not None:
            self._process.wait()
            self._process = None

    def _start(self, account: Account) -> None:
        programs = find_postgres()
        if self._layout.runs_as_root:
            make_outside_home(self._layout)
            programs = copy_for_everyone(programs, self._layout.outside)
            if not self._layout.postgres_sockets.exists():
                account.make_folder(self._layout.postgres_sockets)
        else:
            make_private(self._layout.postgres_sockets)
        if not self._data.exists():
            make_cluster(self._data, programs=programs, account=account, durable=self._durable)
        check_version(self._data)
        if not self._settle():
            self._launch(programs, account)

    def _settle(self) -> bool:
        """Clean up after earlier processes. Return True if this data folder's server is already running."""
        if self._postmasters():
            deadline = time.monotonic() + _START_SECONDS
            while self._postmasters() and not self._says_ready() and time.monotonic() < deadline:
                time.sleep(0.05)
            if self.is_running():
                return True
            self.stop()
        if self._answers():
            raise CannotStart(
                f"a PostgreSQL server outside this container or machine is using {self._data}. Stop "
                "it, or set SCRIPTSMITH_DATA to another folder"
            )
        self._end_orphans()
        # PostgreSQL trusts its pid file if *any* process of the user has that PID.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        return False

    def _launch(self, programs: Path, account: Account) -> None:
        command: list[str | Path] = [programs / "bin/postgres", "-D", self._data]
        for name, value in self._settings().items():
            command += ["-c", f"{name}={value}"]
        with self._log.open("ab") as log:
            written = log.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=account.uid,
                group=account.gid,
                extra_groups=account.extra_groups,
                cwd="/",
                env=CLEAN_ENVIRONMENT,
                umask=0o077,
                start_new_session=True,
                preexec_fn=self._preexec,
            )
        deadline = time.monotonic() + _START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            if self.is_running():
                return
            time.sleep(0.02)
        self.stop()
        text = self._log.read_bytes()[written:].decode(errors="replace")
        reason = [*text.splitlines(), *complaints(text)] or ["it logged nothing"]
        raise CannotStart(f"PostgreSQL did not start: {reason[-1]} (see {self._log})")

    def _settings(self) -> dict[str, str]:
        memory = memory_bytes()
        buffers = min(max(memory // 8, 64 * _MIB), 2048 * _MIB)
        settings = {
            "cluster_name": self._cluster,
            "listen_addresses": "",
            "unix_socket_directories": str(self._layout.postgres_sockets),
            "unix_socket_permissions": "0700",
            "max_connections": "200",
            "shared_buffers": f"{buffers // _MIB}MB",
            "effective_cache_size": f"{memory // 2 // _MIB}MB",
            "maintenance_work_mem": "512MB",
            "work_mem": "16MB",
            "max_wal_size": "2GB",
            "random_page_cost": "1.1",
            "jit": "off",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        if (
            shared_memory_bytes() < 1024 * _MIB
        ):  # as in most containers, and too small for HNSW indexes
            settings["dynamic_shared_memory_type"] = "sysv"
        return settings | ({} if self._durable else _NOT_DURABLE) | self._own_settings

    def _says_ready(self) -> bool:
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
            return "ready" in lines[7] and self._is_postmaster(int(lines[0]))
        except (OSError, IndexError, ValueError):
            return False

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            try:
                connection.connect(str(self._layout.postgres_sockets / ".s.PGSQL.5432"))
            except (BlockingIOError, TimeoutError):
                return True  # the server is running, but too many clients are connecting
            except OSError:
                return False
            return True

    def _is_postmaster(self, pid: int) -> bool:
        if processes.command_name(pid) != "postgres":
            return False
        return processes.command_line(pid)[1:3] == ["-D", str(self._data)]

    def _postmasters(self) -> list[int]:
        """Return the PIDs of all postmasters.

        Exclude their children, which look the same until they set their own titles.
        """
        found = processes.find(self._is_postmaster)
        return [pid for pid in found if processes.parent(pid) not in found]

    def _end_orphans(self) -> None:
        """Kill the session processes of a killed server, because they prevent the next server from starting."""

        def matches(pid: int) -> bool:
            if processes.command_name(pid) != "postgres":
                return False
            return processes.command_line(pid)[0].startswith(f"postgres: {self._cluster}: ")

        orphans = processes.find(matches)
        if not processes.wait_until_gone(orphans, 1.0):
            processes.end(orphans)
