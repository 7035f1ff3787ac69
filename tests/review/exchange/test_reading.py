"""Files as people have them: what each line is read as, and why it is refused. No database."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from core.files.cells import plain_cell, safe_cell
from core.files.lines import MOST_BYTES, UnreadableFile
from core.files.records import Record
from review.exchange.rows.columns import ITEM_HABITS, Columns, read_mapping
from review.exchange.rows.item_rows import read_item
from review.exchange.rows.score_rows import read_scores
from review.exchange.rows.values import RowProblem
from review.exchange.source import Format, Source

NAMES = "id,statement,script\n"


def read(tmp_path: Path, data: bytes | str, name: str = "file", format: str = "") -> list[Record]:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return list(Source(path, format=format))


def problems(records: list[Record]) -> list[tuple[int, str]]:
    return [(one.line, one.problem[:24]) for one in records if one.problem]


@pytest.mark.parametrize(
    ("name", "data", "layout"),
    [
        pytest.param("x", '{"id": "a"}\n{"id": "b"}', Format.JSONL, id="objects a line"),
        pytest.param("x", '\ufeff{"id": "a"}', Format.JSONL, id="objects with a mark of UTF-8"),
        pytest.param("x.json", '{"id": "a"}\n{"id": "b"}', Format.JSONL, id="a wrong ending"),
        pytest.param("x.jsonl", "{broken\n{}", Format.JSONL, id="first line broken"),
        pytest.param("x", "[{}]", Format.JSON, id="array"),
        pytest.param("x.jsonl", "[\n{}\n]", Format.JSON, id="array in spite of the ending"),
        pytest.param("x.jsonl", "[1]\n{}", Format.JSONL, id="an array a line"),
        pytest.param("x", '{"items": [{}]}', Format.JSON, id="items"),
        pytest.param("x", '{\n "items": [{}]}', Format.JSON, id="items over lines"),
        pytest.param("x", "id;statement\na;b", Format.CSV, id="semicolons"),
        pytest.param("x.csv", "[id],{s}\na,b", Format.CSV, id="a table by its ending"),
        pytest.param("x.TSV", "[id]\t{s}\na\tb", Format.CSV, id="tabs, by its ending"),
    ],
)
def test_the_layout_is_told_by_looking(tmp_path: Path, name: str, data: str, layout: str) -> None:
    path = tmp_path / name
    path.write_text(data, encoding="utf-8")
    source = Source(path)
    assert source.layout == layout
    list(source)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"\xef\xbb\xbf \n\n", "empty", id="nothing but white space"),
        pytest.param(b"\xff\xfei\0d\0", "UTF-16", id="UTF-16"),
        pytest.param(b"\x7fELF\2\1\1\0\0\0\0\0", "binary", id="a program"),
        pytest.param(b'{\n"name": 1}', "no array", id="an object without items"),
        pytest.param(b"id,statement,id\na,b,c", "same name", id="a column twice"),
        pytest.param(b"\n\n,\n", "no names", id="a table without a header"),
    ],
)
def test_what_can_not_be_read_at_all_says_why(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(UnreadableFile, match=why):
        read(tmp_path, data)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        Source(tmp_path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param(b'{"id": ', "is no JSON", id="cut off"),
        pytest.param(b'"text"', "is not an object", id="a text"),
        pytest.param(b"[1, 2]", "is not an object", id="a list"),
        pytest.param(b'{"id": NaN}', "is no JSON", id="NaN"),
        pytest.param(b'{"id": "\xe9"}', "is not UTF-8", id="Latin-1"),
        pytest.param(b'{"id": "a\0"}', "is no JSON", id="NUL"),
        pytest.param(b'{"a":' * 5_000 + b"1", "is nested too deeply", id="deep"),
    ],
)
def test_one_bad_line_leaves_the_others(tmp_path: Path, line: bytes, problem: str) -> None:
    records = read(tmp_path, b'{"id": "a"}\r\n\r\n' + line + b'\n{"id": "b"}', "x.jsonl")
    assert [one.values.get("id") for one in records] == ["a", None, "b"]
    assert records[1].line == 3
    assert records[1].problem.startswith(problem)


@pytest.mark.parametrize(
    ("element", "problem"),
    [
        pytest.param('{"id": }', "is no JSON", id="broken"),
        pytest.param("17", "is not an object", id="a number"),
        pytest.param('{"a":' * 5_000 + "1" + "}" * 5_000, "is nested too deeply", id="deep"),
    ],
)
def test_one_bad_element_leaves_the_others(tmp_path: Path, element: str, problem: str) -> None:
    records = read(tmp_path, f'[{{"id": "a"}}, {element}, {{"id": "b"}}]')
    assert [one.values.get("id") for one in records][-1] == "b"
    assert records[1].problem.startswith(problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        pytest.param("x.jsonl", '{"id": "a"}\n{"id": "', '"}\n{"id": "b"}\n', id="jsonl"),
        pytest.param("x.csv", "id,statement\na,b\n", "\nb,c\n", id="csv"),
        pytest.param("x.json", '[{"id": "a"}, {"id": "', '"}, {"id": "b"}]', id="json"),
    ],
)
def test_a_line_of_200_megabytes_is_never_read_whole(
    tmp_path: Path, name: str, before: str, after: str
) -> None:
    with (tmp_path / name).open("wb") as file:
        file.write(before.encode() + b"x" * 100_000)
        file.seek(200_000_000, os.SEEK_CUR)  # a hole: read as NUL bytes, and nothing on the disk
        file.write(after.encode())
    tracemalloc.start()
    records = list(Source(tmp_path / name))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.values.get("id") for one in records] == ["a", None, "b"]
    assert "more than 4,000,000 bytes" in records[1].problem
    assert peak < 5 * MOST_BYTES


def test_cells_keep_quotes_line_ends_and_separators(tmp_path: Path) -> None:
    data = '\ufeffid,statement,script\r\na,"say ""hi"", twice","echo 1\r\necho 2\n"\r\nb,,\r\n'
    records = read(tmp_path, data, "x.csv")
    assert records[0].values == {
        "id": "a",
        "statement": 'say "hi", twice',
        "script": "echo 1\r\necho 2\n",
    }
    assert (records[1].line, records[1].values) == (5, {"id": "b"})


def test_a_table_with_bad_rows_is_read_to_its_end(tmp_path: Path) -> None:
    data = NAMES.encode() + b"a,b,c,d\nb,caf\xe9,x\nc,ok,ls\n"
    records = read(tmp_path, data, "x.csv")
    assert problems(records) == [(2, "has 4 cells under 3 colu")]
    with pytest.raises(RowProblem, match="not UTF-8"):
        read_item(records[1].values)
    assert read_item(records[2].values)[0].external_id == "c"


@pytest.mark.parametrize(
    "text", ["=1", "'=1", "''=1", "-rf", "'quoted'", "@x", "\tx", "+1", "'", "", "plain", "\r"]
)
def test_a_cell_made_safe_is_exactly_the_text_again(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text
    assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))


# --- Rows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "column"),
    [
        pytest.param({"id": "a"}, "statement", id="no statement"),
        pytest.param({"id": "a", "statement": "  "}, "statement", id="blank statement"),
        pytest.param({"id": "a", "statement": 7}, "statement", id="a number"),
        pytest.param({"id": "a", "statement": "x\0"}, "statement", id="NUL"),
        pytest.param({"id": "a", "statement": "\ud800"}, "statement", id="half a character"),
        pytest.param({"id": "a", "statement": "x" * 4_001}, "statement", id="too long"),
        pytest.param({"id": "a\nb", "statement": "x"}, "id", id="an id of two lines"),
        pytest.param({"id": "a" * 201, "statement": "x"}, "id", id="a long id"),
        pytest.param({"id": ["a"], "statement": "x"}, "id", id="a list for id"),
        pytest.param({"statement": "x", "verdict": "good"}, "verdict", id="no verdict"),
        pytest.param({"statement": "x", "execution": 1.5}, "execution", id="more than 1"),
        pytest.param({"statement": "x", "execution": "nan"}, "execution", id="not a number"),
        pytest.param({"statement": "x", "refined": "ls"}, "script", id="refined from nothing"),
        pytest.param({"statement": "x", "known": {"script": 3}}, "script", id="known 3"),
        pytest.param({"statement": "x", "severity": True}, "severity", id="true for a number"),
        pytest.param({"statement": "x", "sham": "maybe"}, "sham", id="neither yes nor no"),
    ],
)
def test_a_row_that_is_refused_names_its_column(row: dict[str, object], column: str) -> None:
    with pytest.raises(RowProblem) as problem:
        read_item(row)
    assert problem.value.column == column


@pytest.mark.parametrize("score", [3, -1, "3", "2.0", 2.0, "two", True, [2], {"value": 2}, "1e0"])
def test_a_score_is_0_1_or_2(score: object) -> None:
    with pytest.raises(RowProblem, match=r"is no score: 0, 1, 2 or empty"):
        read_scores({"item": "a", "reviewer": "r", "script": score}, line=1, columns=Columns())


def test_empty_is_not_asked_and_never_0() -> None:
    row: dict[str, object] = {"item": "a", "reviewer": "r", "script": "0", "feedback": " "}
    given = read_scores({**row, "refined": None}, line=1, columns=Columns())
    assert [(one.stage, one.value) for one in given] == [("script", 0)]


def test_a_column_for_each_rater_needs_no_reviewer() -> None:
    columns = read_mapping(
        {"item": "id", "reviewer:A": "a", "reviewer:B:refined": "b", "adjudicated:C": "c"},
        ours=("item", "reviewer"),
    )
    row: dict[str, object] = {"item": "x", "script": "a text", "a": 1, "b": "2", "c": 0}
    given = read_scores(row, line=1, columns=columns)
    assert [(one.person, one.stage, one.value, one.adjudicates) for one in given] == [
        ("A", "script", 1, False),
        ("B", "refined", 2, False),
        ("C", "script", 0, True),
    ]


def test_an_id_that_is_missing_follows_from_statement_and_reference() -> None:
    def id_of(**row: object) -> str:
        return read_item(row)[0].external_id

    assert id_of(statement="x") == id_of(statement="x ", script="ls")
    assert id_of(statement="x", reference="ls") != id_of(statement="x")
    assert id_of(id=17, statement="x") == "17"


def test_known_sets_of_data_are_read_by_their_own_names() -> None:
    intercode = Columns().with_habits_of(["query", "gold"], ITEM_HABITS)
    assert read_item(intercode.rename({"query": "Do", "gold": "ls"}))[0].reference == "ls"
    bench = Columns().with_habits_of(["test", "name", "prompt", "script", "path"], ITEM_HABITS)
    case, item = read_item(bench.rename({"test": 3, "prompt": "Do", "script": "ls"}))
    assert (case.external_id, case.statement, item.script) == ("3", "Do", "ls")
