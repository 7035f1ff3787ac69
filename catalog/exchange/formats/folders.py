"""The folder format: one folder for each entry, with metadata.yaml and script.sh.

Versions other than the main version are stored in the same way in versions/NUMBER. The `Folder` protocol covers folders
on disk and in archives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from catalog.exchange.formats.records import EntryRecord, Row, read_record
from core.files.lines import MOST_BYTES, UnreadableFile, say_too_long
from core.files.yaml_text import read_yaml, write_yaml

METADATA = "metadata.yaml"
SCRIPT = "script.sh"
VERSIONS = "versions"


class Folder(Protocol):
    """A folder to read from, on disk or in an archive."""

    @property
    def name(self) -> str: ...

    def has(self, name: str) -> bool:
        """Return whether the folder contains a file with this name."""
        ...

    def read(self, name: str) -> bytes:
        """Return the bytes of a file. Raises ValueError if it is missing, a link, too large or damaged."""
        ...

    def folders(self) -> Sequence[Folder]:
        """Return the subfolders, sorted by name."""
        ...


class DiskFolder:
    """A folder on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        return self._path.resolve().name

    def has(self, name: str) -> bool:
        return (self._path / name).is_file()

    def read(self, name: str) -> bytes:
        path = self._path / name
        if path.is_symlink():
            raise ValueError(f"{name} is a link")
        if not path.is_file():
            raise ValueError(f"{name} is missing")
        try:
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise ValueError(f"{name} can't be read: {error.strerror}") from error
        if len(data) > MOST_BYTES:
            raise ValueError(f"{name} {say_too_long()}")
        return data

    def folders(self) -> Sequence[Folder]:
        if not self._path.is_dir():
            return []
        inner = [path for path in sorted(self._path.iterdir()) if path.is_dir()]
        return [DiskFolder(path) for path in inner if not path.is_symlink()]


def read_folders(folder: Folder) -> Iterator[Row]:
    """Yield the entry in `folder`, or the entries in its subfolders, sorted by name. The name of an entry's folder is
    its slug.

    Folders without metadata.yaml and script.sh are skipped.
    """
    if _is_entry(folder):
        yield _read_folder(folder)
        return
    for child in folder.folders():
        if _is_entry(child):
            yield _read_folder(child)


def files_of(record: EntryRecord) -> Iterator[tuple[str, bytes]]:
    """Yield the relative path and content of each file in an entry's folder. The inverse function is `read_folders`."""
    data = record.plain(without=frozenset({"slug", "script", "versions"}))
    yield METADATA, write_yaml(data).encode()
    yield SCRIPT, record.script.encode()
    for version in record.versions:
        place = f"{VERSIONS}/{version.number}"
        data = version.model_dump(mode="json", exclude={"number", "script"}, exclude_none=True)
        yield f"{place}/{METADATA}", write_yaml(data).encode()
        yield f"{place}/{SCRIPT}", version.script.encode()


def write_folder(folder: Path, record: EntryRecord) -> None:
    """Write an entry to a folder, which is created if necessary. Files from an earlier export are overwritten."""
    for name, data in files_of(record):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _is_entry(folder: Folder) -> bool:
    return folder.has(METADATA) or folder.has(SCRIPT)


def _read_folder(folder: Folder) -> Row:
    place = folder.name
    try:
        data = _read_entry(folder)
        others = _read_versions(folder)
    except UnreadableFile:  # the whole archive is unreadable
        raise
    except ValueError as error:
        return Row(place=place, problem=str(error))
    record = {"slug": place, **data, **({"versions": others} if others else {})}
    return read_record(record, place=place)


def _read_entry(folder: Folder) -> dict[str, object]:
    try:
        data = read_yaml(_read_text(folder, METADATA))
    except UnreadableFile:
        raise
    except ValueError as error:
        said = str(error)
        raise ValueError(said if said.startswith(METADATA) else f"{METADATA} {said}") from error
    if not isinstance(data, dict):
        raise ValueError(f"{METADATA} is not a mapping of names to values")
    return {**data, "script": _read_text(folder, SCRIPT)}


def _read_versions(folder: Folder) -> list[dict[str, object]]:
    versions = []
    for above in folder.folders():
        if above.name != VERSIONS:
            continue
        for inner in above.folders():
            if not inner.name.isdecimal() or len(inner.name) > 7:
                raise ValueError(f"{VERSIONS}/{inner.name[:50]} does not have a number as its name")
            try:
                data = _read_entry(inner)
            except UnreadableFile:
                raise
            except ValueError as error:
                raise ValueError(f"{VERSIONS}/{inner.name}/{error}") from error
            versions.append({**data, "number": int(inner.name)})
    return sorted(versions, key=lambda version: version["number"])  # type: ignore[arg-type, return-value]


def _read_text(folder: Folder, name: str) -> str:
    try:
        return folder.read(name).decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not valid UTF-8 at byte {error.start + 1}") from error
