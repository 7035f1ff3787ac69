"""Files that are kept for a while under names nobody can guess, where every machine of the product finds them.

They lie in Django's default storage: a folder (shared by the machines, where there are several) or an S3 bucket.
Whoever works through one gets a path: of the file itself, or of a copy that was fetched to this machine once, for what
is kept under a name never changes. A copy goes after a day, since whoever deletes the file may be another machine.
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
        """Keep what was uploaded; the name under which it is found. Nothing is left of it where that fails."""
        name = new_name()
        with self.writing(name) as target:
            for part in file.chunks():
                target.write(part)
        return name

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """A file to write; it is kept under the name once the block is through, and in no other case."""
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
        """Where it can be read on this machine; there is nothing where it is no longer kept."""
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
        """What is kept, to be handed on: of it nothing stays on this machine. Raises OSError where it is gone."""
        return cast(BinaryIO, default_storage.open(self._key(name)))

    def has(self, name: str) -> bool:
        """Whether it is kept."""
        return bool(name) and default_storage.exists(self._key(name))

    def delete(self, name: str) -> None:
        """Keep it no longer; nothing happens where it is gone already."""
        if name:
            default_storage.delete(self._key(name))
            self._copy(name).unlink(missing_ok=True)

    def names_before(self, when: datetime) -> list[str]:
        """Names of what was kept before then; copies and unfinished files of this machine that are as old go."""
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
    """Tells a storage of files where the file lies, so that it is moved and not copied."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def delete_copies(*, before: datetime) -> None:
    """Copies and unfinished files of this machine that were made before then go."""
    for left in (*_fetched().glob("*/*"), *_scratch().glob("*")):
        if _changed_at(left) < before:
            left.unlink(missing_ok=True)


def local_folder() -> Path | None:
    """Where kept files lie on a disk, or None where they lie in a bucket."""
    try:
        return Path(default_storage.path(""))
    except NotImplementedError:  # files of this storage have no path
        return None


def new_name() -> str:
    """A name for a file that nobody can guess."""
    return secrets.token_hex(16)


def _scratch() -> Path:
    """A folder on the disk of the kept files, where these have one: what is finished there is moved without copying."""
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
