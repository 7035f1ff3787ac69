"""Tests for reading tables written by Excel and pandas, and for reporting errors with their line numbers."""

from __future__ import annotations

import csv
import json
import random
import re
from io import BytesIO, StringIO
from pathlib import Path

import pytest

from core.files.lines import UnreadableFile
from core.files.tables import Table
from review.exchange.rows.item_rows import read_item
from review.exchange.rows.values import RowProblem
from review.exchange.source import Source
from tests.first_cases import first_cases

ROWS = [
    ["a", "List; all, files", 'echo "x"\nls -l'],
    ["b", "Café “now”", "date"],
    ["c", "Go", "cd"],
]
PLAIN = "id,statement,script\na,List,ls\nb,Show,pwd\nc,Go,cd\n"


def read(data: bytes) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the columns, the valid rows, and the line numbers of the invalid rows."""
    table = Table(BytesIO(data), exact=False)
    rows = list(table)
    return (
        table.columns,
        [list(row.cells) for row in rows if not row.problem],
        [row.line for row in rows if row.problem],
    )


def write(separator: str = ",", end: str = "\n", *, before: str = "", after: str = "") -> str:
    def quote(cell: str) -> str:
        text = cell.replace('"', '""')
        return f'"{text}"' if set(cell) & set('",;\t\n') else cell

    lines = [separator.join(map(quote, row)) for row in [["id", "statement", "script"], *ROWS]]
    return before + end.join(f"{line}{after}" for line in lines) + end


HABITS = {
    "semicolons": write(";").encode(),
    "tabs": write("\t", "\r\n").encode(),
    "sep above the header": write(";", "\r\n", before="sep=;\r\n").encode(),
    "sep of another kind": write("~", before='"sep=~"\n').encode(),
    "carriage returns alone": write(",", "\r").encode(),
    "a mark": write(before="\ufeff").encode(),
    "UTF-16 with a mark": write("\t", "\r\n").encode("utf-16"),
    "UTF-16 without a mark": write("\t", "\r\n").encode("utf-16-le"),
    "UTF-16, big endian": write("\t", before="\ufeff").encode("utf-16-be"),
    "Windows-1252": write(";", "\r\n").encode("cp1252"),
    "blank lines before the header": write(before="\n;;\n\n").encode(),
    "empty columns at the end": write(";", after=";;").encode(),
    "line breaks in the header": write().replace("statement", '" statement\n"', 1).encode(),
    "the index of pandas": "\n".join(
        f"{number},{line}" if line[:3] in ("id,", "a,\"", "b,C", "c,G") else line
        for number, line in enumerate(write().splitlines())
    ).replace("0,id", ",id").encode(),
}  # fmt: skip


def test_table_as_excel_and_pandas_write_it_gives_the_same_rows() -> None:
    wrong = {}
    for habit, data in HABITS.items():
        found = read(data)
        if found != (["id", "statement", "script"], ROWS, []):
            wrong[habit] = found
    assert not wrong


def test_damaged_table_loses_no_row_without_naming_its_line() -> None:
    damaged = {
        "a quote that is not closed": (PLAIN.replace("List", '"List'), ["b", "c"], [2]),
        "closed in a later row": (
            PLAIN.replace("List", '"List').replace("Show", '"Show"'),
            ["b", "c"],
            [2],
        ),
        "closed at a later cell": (
            PLAIN.replace("List", '"List').replace("Show", 'Show"'),
            ["b", "c"],
            [2],
        ),
        "two rows in one": (PLAIN.replace("ls\n", "ls"), ["c"], [2]),
        "too many cells": (PLAIN.replace("Show", "Show,x"), ["a", "c"], [3]),
        "a cell without a column": (PLAIN.replace("script", "script,", 1).replace("pwd", "pwd,x"),
            ["a", "c"], [3]),
    }  # fmt: skip
    wrong = {}
    for damage, (text, good, bad) in damaged.items():
        _columns, rows, lines = read(text.encode())
        if ([row[0] for row in rows], lines) != (good, bad):
            wrong[damage] = rows, lines
    assert not wrong
    for header in ('id,"statement,script\n', "id,statement,id\n"):
        with pytest.raises(UnreadableFile):
            read(header.encode() + b"a,b,c\n")


def test_lone_damaged_byte_of_utf_8_is_not_windows_1252() -> None:
    for damage in (b"\xe9", b"\xed\xa0\x80", b"\xff"):
        _columns, rows, _lines = read("id,x\na,naïve café\n".encode() + b"b," + damage + b"\n")
        assert "\udc80" in rows[1][1], damage


# --- Mutations ---------------------------------------------------------------------------------------------------

RECORDS = [
    {
        "id": f"i{one}",
        "statement": f"Show {one} “now”",
        "script": 'ls, "x"\npwd' if one % 3 else "ls",
    }
    for one in range(8)
]
BLOCK = 50
PIECES = [*(bytes([one]) for one in b'",;\t\n\r{}[]:\\\0\xff\xe2'), b'""', b'"\n']


def original(ending: str, *, quoting: int) -> bytes:
    if ending in ("csv", "tsv"):
        text = StringIO()
        separator = "\t" if ending == "tsv" else ","
        writer = csv.DictWriter(text, list(RECORDS[0]), delimiter=separator, quoting=quoting)
        writer.writeheader()
        writer.writerows(RECORDS)
        return text.getvalue().encode()
    texts = [json.dumps(one, ensure_ascii=False) for one in RECORDS]
    return ("[" + ",\n".join(texts) + "]" if ending == "json" else "\n".join(texts)).encode()


def mutated(ending: str, block: int) -> list[bytes]:
    """Return files that each have one to three random deletions, duplications, replacements or insertions."""
    chance, found = random.Random(f"{ending} {block}"), []
    for _number in range(BLOCK):
        data = original(ending, quoting=block % 2)
        for _change in range(chance.randint(1, 3)):
            at, piece = chance.randrange(len(data)), chance.choice(PIECES)
            length = chance.choice([0, 0, 1, 1, 5])
            data = data[:at] + chance.choice([b"", piece, data[at : at + 9]]) + data[at + length :]
        found.append(data if chance.random() < 0.9 else data[: chance.randrange(1, len(data))])
    return found


def lost_rows(path: Path) -> set[str]:
    """Return the IDs that are in the file but in no record. Return an empty set if reading reports a problem."""
    there = set(re.findall(r"\bi\d\b", path.read_bytes().decode(errors="replace")))
    try:
        for record in Source(path):
            if record.problem:
                return set()
            read_item(record.values)
            for value in map(str, record.values.values()):
                if len(own := set(re.findall(r"i\d", value))) == 1:
                    there -= own
    except (UnreadableFile, RowProblem):
        return set()
    return there


@pytest.mark.parametrize(
    ("ending", "block"),
    first_cases(
        4, [(ending, block) for block in range(10) for ending in ("csv", "tsv", "json", "jsonl")]
    ),
)
def test_mutated_file_loses_no_row_silently(tmp_path: Path, ending: str, block: int) -> None:
    """The default tier tests 200 files, and the nightly tier 2,000."""
    lost = {}
    for data in mutated(ending, block):
        path = tmp_path / f"x.{ending}"
        path.write_bytes(data)
        if rows := lost_rows(path):
            lost[data] = rows
    assert not lost
