"""The embedded Redis or Valkey server, one per data folder. It listens only on a Unix socket."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import cannot_write, make_private
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.servers.binaries import find_redis
from scriptsmith_site.embedded.supervision import processes

_START_SECONDS = 20.0


class Redis:
    """The Redis server of one data folder, started by this or another process.

    It stores no data on disk, because PostgreSQL stores all persistent data. `preexec` runs in the server's process
    before the program starts.
    """

    name = "Redis"

    def __init__(self, layout: Layout, *, preexec: Callable[[], None] | None = None) -> None:
        self._layout = layout
        self._log = layout.logs / "redis.log"
        self._preexec = preexec
        self._process: subprocess.Popen[bytes] | None = None

    def is_running(self) -> bool:
        """Return whether the server responds."""
        if self._process is not None:
            self._process.poll()  # reap the process if it has exited
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1.0)
            try:
                connection.connect(str(self._layout.redis_socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(7).startswith(b"+PONG")
            except (BlockingIOError, TimeoutError):
                return True  # the server is running, but busy with another request
            except OSError:
                return False

    def how_ended(self) -> str:
        """Return a sentence that says why the server does not respond, or an empty string if it responds."""
        return "" if self.is_running() else processes.describe_end(self.name, self._process)

    def start(self) -> None:
        """Start the server and wait until it responds. A running server stays unchanged.

        The caller must hold the change lock. Raises CannotStart.
        """
        if self.is_running():
            return
        program = find_redis()
        self.stop()
        make_private(self._layout.sockets)
        try:
            self._layout.redis_data.mkdir(mode=0o700, exist_ok=True)
            self._launch(program)
        except OSError as error:
            raise cannot_write(Path(error.filename or self._log), error) from error

    def stop(self) -> None:
        """Stop the server."""

        def matches(pid: int) -> bool:
            if processes.command_name(pid) not in ("redis-server", "valkey-server"):
                return False
            return processes.working_folder(pid) == self._layout.redis_data

        processes.end(processes.find(matches), (signal.SIGTERM, 10.0))
        if self._process is not None:
            self._process.wait()
            self._process = None

    def _launch(self, program: Path) -> None:
        command: list[str | Path] = [program, "--port", "0", "--daemonize", "no"]
        command += ["--unixsocket", self._layout.redis_socket, "--unixsocketperm", "700"]
        command += ["--dir", self._layout.redis_data, "--save", "", "--appendonly", "no"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._layout.redis_data,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
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
        raise CannotStart(f"{program} did not start (see {self._log})")
