"""Temporary files under names that cannot be guessed, available to every machine of the product.

They are in Django's default storage: a folder (shared if there are several machines) or an S3 bucket. A reader gets
a path: of the file itself, or of a copy that was downloaded to this machine once, since a file never changes under
its name. Copies are deleted after a day, because another machine may have deleted the file.
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
UNFINISHED = "unfinished"  # the folder of what is being written


class KeptFiles:
    """The files of one purpose."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def keep(self, file: File[bytes]) -> str:
        """Store an upload; returns its name. If that fails, nothing is left behind."""
        name = new_name()
        with self.writing(name) as target:
            for part in file.chunks():
                target.write(part)
        return name

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """A file to write to; it is stored under the name when the block ends without an exception."""
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
        """The path on this machine; nothing exists there if the file was deleted."""
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
        """The stored file as a stream, which leaves nothing on this machine. Raises OSError if it was deleted."""
        return cast(BinaryIO, default_storage.open(self._key(name)))

    def has(self, name: str) -> bool:
        """Whether the file is stored."""
        return bool(name) and default_storage.exists(self._key(name))

    def delete(self, name: str) -> None:
        """Delete the file; does nothing if it was deleted already."""
        if name:
            default_storage.delete(self._key(name))
            self._copy(name).unlink(missing_ok=True)

    def names_before(self, when: datetime) -> list[str]:
        """Names of the files stored before then; also deletes local copies and unfinished files that are as old."""
        delete_copies(before=when)
        try:
            _folders, names = default_storage.listdir(self._folder)
        except FileNotFoundError:  # nothing was ever kept
            return []
        return [name for name in names if self._kept_at(name) < when]

    def _kept_at(self, name: str) -> datetime:
        with suppress(FileNotFoundError):  # somebody else was faster
            return default_storage.get_modified_time(self._key(name))
        return timezone.now()

    def _key(self, name: str) -> str:
        return f"{self._folder}/{Path(name).name}"

    def _own_path(self, name: str) -> Path | None:
        try:
            return Path(default_storage.path(self._key(name)))
        except NotImplementedError:  # files of this storage have no path
            return None

    def _copy(self, name: str) -> Path:
        return self._copies() / Path(name).name

    def _copies(self) -> Path:
        folder = _fetched() / self._folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder


class _Movable(File[bytes]):
    """Tells a file storage where the file is, so that it is moved and not copied."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def delete_copies(*, before: datetime) -> None:
    """Delete local copies and unfinished files from before then."""
    for left in (*_fetched().glob("*/*"), *_scratch().glob("*")):
        if _changed_at(left) < before:
            left.unlink(missing_ok=True)


def local_folder() -> Path | None:
    """The folder of the files, or None if they are in a bucket."""
    try:
        return Path(default_storage.path(""))
    except NotImplementedError:  # files of this storage have no path
        return None


def new_name() -> str:
    """A file name that nobody can guess."""
    return secrets.token_hex(16)


def _scratch() -> Path:
    """A folder on the same disk as the stored files, if they are on one, so that a finished file can be moved into
    place.
    """
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
