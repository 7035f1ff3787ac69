"""A .zip file of entry folders. Archives are untrusted, so their size is limited before and during unpacking."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from catalog.exchange.formats.folders import METADATA, SCRIPT, Folder, files_of, read_folders
from catalog.exchange.formats.records import EntryRecord, Row
from core.files.lines import MOST_BYTES, UnreadableFile, say_too_long

MOST_FILES = 50_000
MOST_UNFOLDED = 256_000_000  # bytes in total
MOST_TIMES = 200  # maximum compression ratio of files larger than `_SMALL`
_SMALL = 100_000  # bytes; smaller files may have any compression ratio
_MOST_PATH = 300  # characters
_MOST_DIRECTORY = MOST_FILES * (46 + _MOST_PATH)  # bytes of the central directory
_FILES = frozenset({METADATA, SCRIPT})

_END = struct.Struct("<4s4H2LH")  # the record at the end of an archive
_LONGEST_END = _END.size + 65_535  # including its comment
_LARGE = b"PK\x06\x07"  # precedes that record if the archive has more than 4 GB or 65,535 files
_LARGE_SIZE = 20


def read_archive(file: BinaryIO) -> Iterator[Row]:
    """Yield the entries in the archive. Entry folders are at the top level or inside another folder. Raises
    UnreadableFile.
    """
    _check_directory(file)
    try:
        with zipfile.ZipFile(file) as archive:
            root = _Tree(archive).root
            yield from read_folders(root)
            if not any(_holds_entry(child) for child in (root, *root.folders())):
                for child in root.folders():
                    yield from read_folders(child)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise UnreadableFile(f"The archive can't be read: {error}") from error


def archive_parts(records: Iterable[EntryRecord]) -> Iterator[bytes]:
    """Yield the bytes of an archive with a folder for each record, as a stream."""
    buffer = _Parts()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for record in records:
            for name, data in files_of(record):
                # Use a fixed timestamp, so that equal catalogues produce identical files.
                about = zipfile.ZipInfo(f"{record.slug}/{name}", date_time=(1980, 1, 1, 0, 0, 0))
                about.external_attr = 0o644 << 16
                archive.writestr(about, data, zipfile.ZIP_DEFLATED)
            yield from buffer.take()
    yield from buffer.take()


def _check_directory(file: BinaryIO) -> None:
    """Raise UnreadableFile if the central directory is damaged or too large to be loaded into memory."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - _LONGEST_END - _LARGE_SIZE))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise UnreadableFile("This is not a .zip archive.")
    _mark, _disk, _start, _here, count, length, _offset, _remark = _END.unpack_from(tail, at)
    if tail[max(0, at - _LARGE_SIZE) : at].startswith(_LARGE) or count > MOST_FILES:
        raise UnreadableFile(f"The archive has more than {MOST_FILES:,} files.")
    if length > min(size, _MOST_DIRECTORY):
        raise UnreadableFile("The archive's list of files is damaged or too long.")


def _holds_entry(folder: Folder) -> bool:
    return any(folder.has(name) for name in _FILES)


class _Tree:
    """The folder tree of an archive. Paths that could lead outside the tree are rejected."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.root = _ArchiveFolder("", archive, _Budget())
        if len(archive.filelist) > MOST_FILES:
            raise UnreadableFile(f"The archive has more than {MOST_FILES:,} files.")
        for member in archive.infolist():
            path = member.filename
            if member.is_dir() or path.rsplit("/", 1)[-1] not in _FILES:
                continue  # other files, such as the metadata that some systems add
            parts = path.split("/")
            if len(path) > _MOST_PATH or any(
                part in ("", ".", "..") or not part.isprintable() or "\\" in part or ":" in part
                for part in parts
            ):
                raise UnreadableFile(
                    f"The archive has a file with an invalid path: {path[:100]!r}."
                )
            self.root.place(parts, member)


@dataclass
class _Budget:
    """The number of bytes that may still be unpacked."""

    left: int = field(default_factory=lambda: MOST_UNFOLDED)

    def take(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise UnreadableFile(f"The archive unpacks to more than {MOST_UNFOLDED:,} bytes.")


@dataclass
class _ArchiveFolder:
    """A folder in an archive."""

    name: str
    archive: zipfile.ZipFile
    budget: _Budget
    files: dict[str, list[zipfile.ZipInfo]] = field(default_factory=dict)
    inner: dict[str, _ArchiveFolder] = field(default_factory=dict)

    def place(self, parts: Sequence[str], member: zipfile.ZipInfo) -> None:
        folder = self
        for name in parts[:-1]:
            if name not in folder.inner:
                folder.inner[name] = _ArchiveFolder(name, self.archive, self.budget)
            folder = folder.inner[name]
        folder.files.setdefault(parts[-1], []).append(member)

    def has(self, name: str) -> bool:
        return name in self.files

    def folders(self) -> Sequence[Folder]:
        return [self.inner[name] for name in sorted(self.inner)]

    def read(self, name: str) -> bytes:
        member, *twice = self.files.get(name, [None])
        if member is None:
            raise ValueError(f"{name} is missing")
        if twice:
            raise ValueError(f"{name} occurs twice")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ValueError(f"{name} is a link")
        if member.flag_bits & 1:
            raise ValueError(f"{name} is encrypted")
        data = self._unfold(member)
        if len(data) > _SMALL and len(data) > MOST_TIMES * member.compress_size:
            raise ValueError(f"{name} is compressed by a factor of more than {MOST_TIMES}")
        return data

    def _unfold(self, member: zipfile.ZipInfo) -> bytes:
        # Read no more than one byte over the limit, because the declared size of a file can't be trusted.
        name = member.filename.rsplit("/", 1)[-1]
        try:
            with self.archive.open(member) as file:
                data = file.read(MOST_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
            raise ValueError(f"{name} is damaged: {error}") from error
        except NotImplementedError as error:
            raise ValueError(f"{name} uses an unsupported compression method") from error
        self.budget.take(len(data))
        if len(data) > MOST_BYTES:
            raise ValueError(f"{name} {say_too_long()}")
        return data


class _Parts:
    """A write-only buffer for zipfile. `take` returns the bytes while the archive is still being written."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, because nothing is buffered."""

    def take(self) -> Iterator[bytes]:
        """Yield all bytes written since the last call."""
        parts, self._parts = self._parts, []
        yield from parts
