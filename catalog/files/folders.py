"""A folder for each entry: metadata.yaml says what it is, script.sh is the script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from catalog.files.records import EntryRecord, Row, read_record

METADATA = "metadata.yaml"
SCRIPT = "script.sh"
MOST_BYTES = 4_000_000  # of one file

# libyaml is seven times faster; PyYAML has it on most platforms.
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_folders(folder: Path) -> Iterator[Row]:
    """The entry in `folder`, or in each of its folders by name; the folder's name is the slug.

    Folders without metadata.yaml and script.sh hold something else and are passed over.
    """
    if _is_entry(folder):
        yield _read_folder(folder)
        return
    for child in sorted(folder.iterdir()):
        if _is_entry(child):
            yield _read_folder(child)


def write_folder(folder: Path, record: EntryRecord) -> None:
    """Write one entry so that `read_folders` reads the same; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    data = record.model_dump(mode="json", exclude={"slug", "script"}, exclude_none=True)
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=100)
    (folder / METADATA).write_text(text, encoding="utf-8")
    (folder / SCRIPT).write_bytes(record.script.encode())


def _is_entry(folder: Path) -> bool:
    return (folder / METADATA).is_file() or (folder / SCRIPT).is_file()


def _read_folder(folder: Path) -> Row:
    place = folder.resolve().name
    try:
        data = yaml.load(_read_text(folder / METADATA), Loader=_LOADER)  # as safe_load
        script = _read_text(folder / SCRIPT)
    except (OSError, ValueError) as error:
        return Row(place=place, problem=_one_line(error))
    except yaml.YAMLError as error:
        return Row(place=place, problem=f"{METADATA} is no YAML: {_one_line(error)}")
    if not isinstance(data, dict):
        return Row(place=place, problem=f"{METADATA} holds no names and values")
    return read_record({"slug": place, **data, "script": script}, place=place)


def _read_text(path: Path) -> str:
    if not path.is_file():
        raise ValueError(f"{path.name} is missing")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path.name} has more than {MOST_BYTES:,} bytes")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not UTF-8 at byte {error.start + 1}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
