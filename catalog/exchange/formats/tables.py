"""The CSV format: a header and one row for each entry. Lists are stored in a format that users can type, or as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

from catalog.exchange.formats.records import EntryRecord, Row, read_record
from core.files import cells
from core.files.lines import UnreadableFile
from core.files.tables import Table

SEPARATORS = ",;\t"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class _Kind(NamedTuple):
    """The functions that write a value to a cell and read it from a cell."""

    write: Callable[..., str]
    read: Callable[[str], object]


_TEXT = _Kind(str, str)
_WORDS = _Kind(cells.write_words, cells.read_words)
_LINES = _Kind(cells.write_lines, cells.read_lines)
_FLAG = _Kind(cells.write_flag, cells.read_flag)
_JSON = _Kind(cells.write_object, cells.read_object)

_COLUMNS: dict[str, _Kind] = {
    "slug": _TEXT,
    "title": _TEXT,
    "script": _TEXT,
    "phrasings": _LINES,
    "parameters": _JSON,
    "tags": _WORDS,
    "risk": _TEXT,
    "side_effect": _TEXT,
    "runs_on": _TEXT,
    "operating_system": _TEXT,
    "shell": _TEXT,
    "tools": _WORDS,
    "privileges": _TEXT,
    "check_before": _TEXT,
    "check_after": _TEXT,
    "undo": _TEXT,
    "repeatable": _FLAG,
    "owner": _TEXT,
    "links": _JSON,
    "state": _TEXT,
    "suspended": _TEXT,
    "number": _JSON,
    "about": _JSON,
    "versions": _JSON,
    "title_confirmed": _FLAG,
}
COLUMNS = tuple(_COLUMNS)
_NEEDED = ("title", "script")


def read_table(file: BinaryIO) -> Iterator[Row]:
    """Yield a row for each nonblank row under the header. Raises UnreadableFile."""
    table = Table(file, exact=True, separators=SEPARATORS)
    similar = {name: re.sub(r"[\s-]+", "_", name.lower()) for name in table.columns}
    columns = [similar[name] if similar[name] in _COLUMNS else name for name in table.columns]
    check_columns(columns)
    for line, row, problem in table:
        place = f"line {line}"
        yield (
            Row(place=place, problem=problem) if problem else read_cells(columns, row, place=place)
        )


def read_cells(names: Sequence[str], row: Sequence[str], *, place: str) -> Row:
    """Parse the cells of one row. `names` contains the column names, each of which must be in COLUMNS."""
    if len(row) != len(names):
        return Row(
            place=place, problem=f"has {len(row)} cells, but the header has {len(names)} columns"
        )
    values: dict[str, object] = {}
    for name, cell in zip(names, row, strict=True):
        if _NOT_UTF8.search(cell):
            return Row(place=place, problem=f"{name}: is not valid UTF-8")
        if not cell or (len(cell) < 5 and cell in cells.NO_VALUE and name not in _NEEDED):
            continue
        try:
            values[name] = _COLUMNS[name].read(cells.plain_cell(cell))
        except RecursionError:
            return Row(place=place, problem=f"{name}: is nested too deeply")
        except ValueError as error:
            return Row(place=place, problem=f"{name}: is not valid JSON: {str(error)[:200]}")
    return read_record(values, place=place)


def cells_of(record: EntryRecord) -> list[str]:
    """Return a record's cells in the order of COLUMNS, safe for spreadsheets."""
    plain = record.plain()
    return [
        cells.safe_cell(kind.write(plain[name])) if name in plain else ""
        for name, kind in _COLUMNS.items()
    ]


def check_columns(names: Sequence[str]) -> None:
    """Raise UnreadableFile if a column is unknown, repeated, or required but missing."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UnreadableFile(f"Two columns have the same name: {', '.join(twice)[:200]}.")
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise UnreadableFile(f"Missing required column: {', '.join(missing)}.")
    unknown = [name for name in names if name not in _COLUMNS]
    if unknown:
        raise UnreadableFile(
            f"Unknown column {unknown[0][:100]!r}. Use these columns: {', '.join(COLUMNS)}."
        )
