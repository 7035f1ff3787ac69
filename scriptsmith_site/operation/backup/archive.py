"""The backup file: a tar archive whose manifest has the length and SHA-256 of each part.

Members: `database.dump` (pg_dump's custom format), `secret-key`, `files/`, then `manifest.json` and `manifest.sha256`.
The last two come at the end, so a truncated file has no manifest. This module does not use the database.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

FORMAT = 2  # format 1 had no checksums
DUMP, KEY, FILES = "database.dump", "secret-key", "files"
_MANIFEST, _SUM = "manifest.json", "manifest.sha256"
_CHUNK = 1024 * 1024


class CannotBackUp(Exception):
    """A backup, restore or drill was rejected or failed without changes. The message gives the reason."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The description of a backup."""

    format: int
    product: str
    made_at: str
    migrations: list[str]  # all applied migrations, as "app.name"
    # The hash and size of each part: {"sha256": ..., "size": bytes}.
    parts: dict[str, dict[str, str | int]] = field(default_factory=dict)
    # The row count and checksum of each table, {"rows": ..., "checksum": ...}, from the same snapshot as the dump.
    tables: dict[str, dict[str, str | int]] = field(default_factory=dict)

    @property
    def proves_itself(self) -> bool:
        """Return whether the backup has checksums. Backups in format 1 have no checksums."""
        return self.format > 1


class _Hashing:
    """A file reader that hashes the data it reads."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.hash.update(data)
        return data


def pack(
    target: IO[bytes],
    manifest: Manifest,
    *,
    dump: Path,
    key: str,
    files: Path | None,
    leave_out: str = "",
) -> None:
    """Write the archive, without the `leave_out` subfolder of `files`.

    Raises OSError if a file shrinks during the backup or the disk is full.
    """
    with tarfile.open(fileobj=target, mode="w") as tar:
        _add_file(tar, DUMP, dump, manifest)
        _add(tar, KEY, io.BytesIO(key.encode()), len(key.encode()), manifest)
        if files is not None and files.is_dir():
            for path in sorted(files.rglob("*")):
                parts = path.relative_to(files).parts
                if path.is_file() and not path.is_symlink() and parts[0] != leave_out:
                    _add_file(tar, str(PurePosixPath(FILES, *parts)), path, manifest)
        text = json.dumps(asdict(manifest), indent=2).encode()
        _add(tar, _MANIFEST, io.BytesIO(text), len(text))
        checksum = hashlib.sha256(text).hexdigest().encode()
        _add(tar, _SUM, io.BytesIO(checksum), len(checksum))


def unpack(source: Path, folder: Path) -> Manifest:
    """Extract and verify every part of a backup.

    A backup of format 1 has no checksums, so only missing parts are detected. Raises CannotBackUp.
    """
    try:
        with tarfile.open(source, mode="r:") as tar:
            members = {member.name: member for member in tar.getmembers() if not member.isdir()}
            manifest = _read_manifest(tar, members)
            found = set(members) - {_MANIFEST, _SUM}
            if manifest.proves_itself:
                _require_the_same(found, set(manifest.parts))
            _require_the_same({DUMP, KEY} & found, {DUMP, KEY})
            for name in sorted(found):
                _unpack_part(tar, members[name], folder, manifest)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise CannotBackUp(f"{source} can't be read: {error}") from error
    return manifest


def _unpack_part(
    tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path, manifest: Manifest
) -> None:
    parts = PurePosixPath(member.name).parts
    if member.name not in (DUMP, KEY) and (parts[0] != FILES or ".." in parts or len(parts) < 2):
        raise CannotBackUp(f"this is not a ScriptSmith backup: {member.name} is outside its folder")
    target = folder.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    file = tar.extractfile(member) if member.isfile() else None
    if file is None:
        raise CannotBackUp(f"this is not a ScriptSmith backup: {member.name} is not a regular file")
    reading, size = _Hashing(file), 0
    with target.open("wb") as written:
        while data := reading.read(_CHUNK):
            size += written.write(data)
    if not manifest.proves_itself:
        return
    expected = manifest.parts[member.name]
    if (size, reading.hash.hexdigest()) != (expected["size"], expected["sha256"]):
        raise CannotBackUp(
            f"the backup is damaged: {member.name} has changed since the backup was made"
        )


def _read_manifest(tar: tarfile.TarFile, members: dict[str, tarfile.TarInfo]) -> Manifest:
    text = _read(tar, members, _MANIFEST)
    try:
        manifest = Manifest(**json.loads(text))
        if manifest.proves_itself and manifest.format <= FORMAT:
            checksum = _read(tar, members, _SUM).decode("ascii", "replace")
            if checksum != hashlib.sha256(text).hexdigest():
                raise CannotBackUp(
                    "the backup is damaged: its manifest has changed since the backup was made"
                )
    except (TypeError, ValueError):
        raise CannotBackUp("this is not a ScriptSmith backup: its manifest can't be read") from None
    return manifest


def _read(tar: tarfile.TarFile, members: dict[str, tarfile.TarInfo], name: str) -> bytes:
    member = members.get(name)
    file = tar.extractfile(member) if member and member.isfile() else None
    if file is None:
        raise CannotBackUp(f"this ScriptSmith backup is incomplete: {name} is missing")
    return file.read()


def _require_the_same(found: set[str], expected: set[str]) -> None:
    if missing := sorted(expected - found):
        raise CannotBackUp(f"this ScriptSmith backup is incomplete: {missing[0]} is missing")
    if strange := sorted(found - expected):
        raise CannotBackUp(f"the backup is damaged: it has an unexpected file, {strange[0]}")


def _add_file(tar: tarfile.TarFile, name: str, path: Path, manifest: Manifest) -> None:
    with path.open("rb") as file:
        _add(tar, name, file, path.stat().st_size, manifest)


def _add(
    tar: tarfile.TarFile, name: str, file: IO[bytes], size: int, manifest: Manifest | None = None
) -> None:
    """Add one member and record its hash as written, even if the file changes during the backup."""
    member, reading = tarfile.TarInfo(name), _Hashing(file)
    member.size, member.mode = size, 0o600
    tar.addfile(member, reading)
    if manifest is not None:
        manifest.parts[name] = {"sha256": reading.hash.hexdigest(), "size": size}
