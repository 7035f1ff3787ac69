"""File locks, which the kernel releases when the process exits for any reason."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scriptsmith_site.embedded.errors import CannotStart
from scriptsmith_site.embedded.folders import cannot_write


class FileLock:
    """An exclusive or shared `flock`. Its methods raise CannotStart if the file can't be opened or written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def try_exclusive(self) -> bool:
        """Try to get the exclusive lock, and return whether this succeeded. A failed attempt releases a shared lock."""
        try:
            fcntl.flock(self._open(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def share(self) -> None:
        """Wait until no process has the exclusive lock, then get a shared lock."""
        fcntl.flock(self._open(), fcntl.LOCK_SH)

    def write(self, text: str) -> None:
        """Write a message for processes that can't get the lock."""
        try:
            os.ftruncate(self._open(), 0)
            os.pwrite(self._open(), text.encode(), 0)
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def read(self) -> str:
        """Return the message that the lock's owner wrote."""
        return os.pread(self._open(), 4096, 0).decode(errors="replace")

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            try:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise cannot_write(self._path, error) from error
        return self._descriptor


@contextmanager
def held(path: Path, *, seconds: float) -> Iterator[None]:
    """Hold the exclusive lock during the block.

    Raises CannotStart if another process holds it for longer than `seconds`.
    """
    lock = FileLock(path)
    begun = time.monotonic()
    patience = 3.0
    try:
        while not lock.try_exclusive():
            waited = time.monotonic() - begun
            if waited > seconds:
                raise CannotStart(
                    f"another process has held {path} for {seconds:.0f} s to start or stop the servers. "
                    "Stop that process, then try again"
                )
            if waited > patience:
                print(
                    "Waiting for another process to start or stop the servers.",
                    file=sys.stderr,
                )
                patience = seconds
            time.sleep(0.05)
        yield
    finally:
        lock.release()
