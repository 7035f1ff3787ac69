"""Temporary files with unguessable names that all machines of an installation can read.

The files are in Django's default storage: a folder (shared between machines) or an S3 bucket. A reader gets the path of
the file or of a local copy. Stored files never change, so copies stay valid. Copies are deleted after a day, because
another machine may have deleted the file.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils import timezone

COPIES_KEPT_FOR = timedelta(days=1)
UNFINISHED = "unfinished"  # the folder of files that are being written


class KeptFiles:
    """The stored files for one purpose, in one folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def keep(self, file: File[bytes]) -> str:
        """Store an upload and return its new name. A failed upload leaves no file behind."""
        name = new_name()
        with self.writing(name) as target:
            for part in file.chunks():
                target.write(part)
        return name

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Yield a writable file. If the block ends without an exception, store the file under the name."""
        with tempfile.NamedTemporaryFile(dir=_scratch(), delete=False) as unfinished:
            path = Path(unfinished.name)
            try:
                yield cast(BinaryIO, unfinished)
                unfinished.flush()
                with path.open("rb") as written:
                    default_storage.save(self._key(name), _Movable(written))
            finally:
                path.unlink(missing_ok=True)

    def fetch(self, name: str) -> Path:
        """Return the file's path on this machine. If the file was deleted, the path does not exist."""
        if (path := self._own_path(name)) is not None:
            return path
        delete_copies(before=timezone.now() - COPIES_KEPT_FOR)
        copy = self._copy(name)
        if not copy.is_file() and self.has(name):
            with (
                default_storage.open(self._key(name)) as source,
                tempfile.NamedTemporaryFile(dir=copy.parent, delete=False) as target,
            ):
                for part in source.chunks():
                    target.write(part)
            Path(target.name).replace(copy)
        return copy

    def open(self, name: str) -> BinaryIO:
        """Open the stored file as a stream, without a local copy. Raises OSError if the file was deleted."""
        return cast(BinaryIO, default_storage.open(self._key(name)))

    def has(self, name: str) -> bool:
        """Return whether the file is stored."""
        return bool(name) and default_storage.exists(self._key(name))

    def delete(self, name: str) -> None:
        """Delete the file, if it still exists."""
        if name:
            default_storage.delete(self._key(name))
            self._copy(name).unlink(missing_ok=True)

    def names_before(self, when: datetime) -> list[str]:
        """Delete local copies and unfinished files from before `when`, and return the names of older stored files."""
        delete_copies(before=when)
        try:
            _folders, names = default_storage.listdir(self._folder)
        except FileNotFoundError:  # no file was ever stored
            return []
        return [name for name in names if self._kept_at(name) < when]

    def _kept_at(self, name: str) -> datetime:
        with suppress(FileNotFoundError):  # another process has deleted it
            return default_storage.get_modified_time(self._key(name))
        return timezone.now()

    def _key(self, name: str) -> str:
        return f"{self._folder}/{Path(name).name}"

    def _own_path(self, name: str) -> Path | None:
        try:
            return Path(default_storage.path(self._key(name)))
        except NotImplementedError:  # this storage has no paths
            return None

    def _copy(self, name: str) -> Path:
        return self._copies() / Path(name).name

    def _copies(self) -> Path:
        folder = _fetched() / self._folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder


class _Movable(File[bytes]):
    """A file with a path that the file storage can move instead of copying the content."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def delete_copies(*, before: datetime) -> None:
    """Delete local copies and unfinished files that are older than this time."""
    for left in (*_fetched().glob("*/*"), *_scratch().glob("*")):
        if _changed_at(left) < before:
            left.unlink(missing_ok=True)


def local_folder() -> Path | None:
    """Return the folder of the stored files, or None if they are in a bucket."""
    try:
        return Path(default_storage.path(""))
    except NotImplementedError:  # this storage has no paths
        return None


def new_name() -> str:
    """Return an unguessable file name."""
    return secrets.token_hex(16)


def _scratch() -> Path:
    """Return the folder for unfinished files, on the same disk as stored files if possible, so that moves are fast."""
    folder = (local_folder() or _fetched()) / UNFINISHED
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _fetched() -> Path:
    folder: Path = settings.LAYOUT.data / "fetched"
    return folder


def _changed_at(path: Path) -> datetime:
    with suppress(FileNotFoundError):
        return datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
    return timezone.now()
