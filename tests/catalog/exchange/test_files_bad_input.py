"""Tests that broken, hostile or unusual files yield a report by row, and that their valid rows are imported."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from catalog.exchange.formats import Format, Row, UnreadableFile, read_file, read_rows
from core.files.lines import MOST_BYTES

GOOD = {"title": "Tell the date", "script": "date\n"}


def read_text(text: str | bytes, format: Format = Format.CSV) -> list[Row]:
    data = text.encode() if isinstance(text, str) else text
    return list(read_file(io.BytesIO(data), format))


def table(*rows: Sequence[str], header: Sequence[str] = ("title", "script")) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([header, *rows])
    return buffer.getvalue()


def said(rows: Sequence[Row]) -> dict[str, str]:
    return {row.place: row.problem for row in rows if row.problem}


def titles(rows: Sequence[Row]) -> list[str]:
    return [row.record.title for row in rows if row.record is not None]


def entry_folder(parent: Path, name: str, metadata: str | bytes, script: bytes = b"date\n") -> None:
    folder = parent / name
    folder.mkdir()
    data = metadata.encode() if isinstance(metadata, str) else metadata
    (folder / "metadata.yaml").write_bytes(data)
    (folder / "script.sh").write_bytes(script)


COLUMNS = [
    ("title,skript", "Missing required column: script"),
    ("title,script,owned", "Unknown column 'owned'"),
    ("title,script,title", "the same name: title"),
    ("", "Missing required column: title"),
    ("Tell the date,date", "Missing required column: title"),
]


def test_a_table_with_other_columns_is_not_read(subtests: pytest.Subtests) -> None:
    for header, problem in COLUMNS:
        with subtests.test(header), pytest.raises(UnreadableFile, match=problem):
            read_text(f"{header}\nTell the date,date\n")


def test_malformed_rows_are_refused_and_others_kept() -> None:
    rows = read_text("title,script\nToo,many,cells\nonly one\nTell the date,date\n\n")
    assert titles(rows) == ["Tell the date"]
    assert said(rows) == {
        "line 2": "has 3 cells, but the header has 2 columns",
        "line 3": "has 1 cells, but the header has 2 columns",
    }
    rows = read_text(
        'title,script\n"Never closed,date\nTell the date,date\n"Quoted","uptime\n-p"\nLast,df\n'
    )
    assert titles(rows) == ["Tell the date", "Quoted", "Last"]
    assert list(said(rows)) == ["line 2"]


def test_tables_of_other_programs_are_read(tmp_path: Path) -> None:
    for separator, end, mark in product((",", ";", "\t"), ("\n", "\r\n"), (b"", b"\xef\xbb\xbf")):
        text = end.join([f"title{separator}script", f"Tell the date{separator}date", ""])
        assert titles(read_text(mark + text.encode())) == ["Tell the date"], (separator, end, mark)
    file = tmp_path / "entries.TSV"
    file.write_text("title\tscript\nTell the date\tdate\n")
    assert titles(list(read_rows(file))) == ["Tell the date"]


def test_a_cell_of_a_million_characters_is_read_and_a_longer_row_refused() -> None:
    rows = read_text(
        table(("Long", "x" * 1_000_000), ("Longer", "x" * MOST_BYTES), ("Tell the date", "date"))
    )
    assert titles(rows) == ["Long", "Tell the date"]
    assert said(rows) == {"line 3": "has more than 4,000,000 bytes"}


@pytest.mark.slow
def test_memory_holds_one_row_and_not_the_file(tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    with file.open("w") as target:
        target.write("title,script\n")
        for number in range(60):
            target.write(f"{number},{'x' * 500_000}\n")
    tracemalloc.start()
    try:
        assert sum(row.record is not None for row in read_rows(file)) == 60
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000 < file.stat().st_size


LISTS = [
    ("[1", "phrasings: is not valid JSON"),
    ("[[1]]", "phrasings.0"),
    ("[" * 100_000, "nested too deeply"),
]


def test_a_cell_that_looks_like_a_list_has_to_be_one(subtests: pytest.Subtests) -> None:
    for cell, problem in LISTS:
        with subtests.test(cell):
            header = ("title", "script", "phrasings")
            rows = read_text(table(("A", "date", cell), ("B", "df", "one"), header=header))
            assert titles(rows) == ["B"]
            assert problem in said(rows)["line 2"]


NO_TEXTS = [
    ("naïve café".encode() + b" caf\xe9", "title: is not valid UTF-8"),
    (b"a\0b", "NUL"),
    (b"\xed\xa0\x80", "title: is not valid UTF-8"),
]


def test_a_cell_that_is_no_text_is_refused(subtests: pytest.Subtests) -> None:
    for data, problem in NO_TEXTS:
        with subtests.test(problem):
            rows = read_text(b"title,script\n" + data + b",date\nTell the date,date\n")
            assert titles(rows) == ["Tell the date"]
            assert problem in said(rows)["line 2"]


def test_files_in_encodings_of_excel_are_read() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-8-sig", "cp1252"):
        rows = read_text("title,script\nCafé “now”,date\n".encode(encoding))
        assert titles(rows) == ["Café “now”"], encoding
    line = json.dumps({**GOOD, "title": "Café"}, ensure_ascii=False)
    assert titles(read_text(line.encode("utf-16"), Format.JSONL)) == ["Café"]


def test_formulas_are_texts_and_nothing_is_lost() -> None:
    rows = read_text(table(("'=cmd|' /C calc'!A0", "date"), ("=1+1", "df"), ("it's", "id")))
    assert titles(rows) == ["=cmd|' /C calc'!A0", "=1+1", "it's"]


def test_lines_that_are_no_records_are_refused_one_by_one() -> None:
    lines = [
        b"{",
        b'"text"',
        b'{"title": "Infinity", "script": "df", "about": {"x": Infinity}}',
        b'{"title": "NUL", "script": "df", "about": {"x": "a\\u0000b"}}',
        b'{"title": "Deep", "script": "df", "about": {"x": ' + b"[" * 400 + b"]" * 400 + b"}}",
        b"[" * 100_000,
        b'{"title": "\xff", "script": "df"}',
        b'{"title": "Long", "script": "df", "about": {"x": "' + b"y" * 60_000 + b'"}}',
        b'{"title": "Twice", "script": "df", "versions": ['
        + b",".join([b'{"number": 1, "state": "draft", "script": "a"}'] * 2)
        + b"]}",
        json.dumps(GOOD).encode(),
    ]

    rows = read_text(b"\xef\xbb\xbf" + b"\r\n".join(lines), Format.JSONL)

    assert titles(rows) == ["Tell the date"]
    problems = said(rows)
    assert list(problems) == [f"line {number}" for number in range(1, 10)]
    for line, problem in (
        (1, "is not valid JSON"), (2, "not a JSON object"), (4, "NUL"), (5, "nested too deeply"),
        (6, "nested too deeply"), (7, "not valid UTF-8 at byte 12"), (8, "The limit is 50,000"),
        (9, "the same number"),
    ):  # fmt: skip
        assert problem in problems[f"line {line}"]


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\ntitle: Bomb\n"


WRONG = {
    "broken": ("title: [", "is not valid YAML"),
    "a list": ("- a\n- b\n", "is not a mapping of names to values"),
    "empty": ("", "is not a mapping of names to values"),
    "an alias bomb": (BOMB, "uses an alias"),
    "brackets": ("a: " + "[" * 50_000, "nested too deeply"),
    "a program": ("title: !!python/object/apply:os.system [id]\n", "is not valid YAML"),
    "a tag of nobody": ("title: !env SECRET\n", "is not valid YAML"),
    "an unknown name": ("title: a\ntitel: b\n", "titel"),
    "a number for a text": ("title: 7\n", "title"),
    "a NUL character": ('title: "a\\0b"\n', "NUL"),
    "Latin-1": ("title: café\n".encode("latin-1"), "is not valid UTF-8"),
    "two documents": ("title: a\n---\ntitle: b\n", "is not valid YAML"),
    "a slug that climbs": ("title: a\nslug: ../../etc\n", "slug"),
}


def test_wrong_metadata_is_reported_by_its_folder(tmp_path: Path) -> None:
    for name, (metadata, _problem) in WRONG.items():
        entry_folder(tmp_path, name, metadata)
    entry_folder(tmp_path, "good", "title: Tell the date\n")
    rows = list(read_rows(tmp_path))
    assert titles(rows) == ["Tell the date"]
    found = said(rows)
    assert {
        name: found[name] for name, (_, problem) in WRONG.items() if problem not in found[name]
    } == {}
    assert found.keys() == WRONG.keys()


def test_a_script_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("do not show\n")
    entries = tmp_path / "entries"
    entries.mkdir()
    entry_folder(entries, "linked", "title: Linked\n")
    (entries / "linked" / "script.sh").unlink()
    (entries / "linked" / "script.sh").symlink_to(secret)
    assert said(list(read_rows(entries))) == {"linked": "script.sh is a link"}


def test_versions_are_named_by_their_numbers(tmp_path: Path) -> None:
    entry_folder(tmp_path, "a", "title: A\n")
    (tmp_path / "a" / "versions").mkdir()
    entry_folder(tmp_path / "a" / "versions", "old", "state: draft\n")
    assert "versions/old" in said(list(read_rows(tmp_path)))["a"]


def test_a_file_of_another_kind_is_not_guessed_at(tmp_path: Path) -> None:
    file = tmp_path / "entries.xlsx"
    file.write_bytes(b"PK")
    with pytest.raises(UnreadableFile, match=r"\.jsonl, .*\.csv, \.tsv, \.zip"):
        list(read_rows(file))
