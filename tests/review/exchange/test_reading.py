"""Tests for how each line of files from real tools is read and why a line is rejected, without a database."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files.cells import plain_cell, safe_cell
from core.files.lines import MOST_BYTES, UnreadableFile
from core.files.records import Record
from review.exchange.rows.columns import ITEM_HABITS, Columns, read_mapping
from review.exchange.rows.item_rows import read_item
from review.exchange.rows.score_rows import read_scores
from review.exchange.rows.values import RowProblem
from review.exchange.source import Format, Source
from tests.first_cases import first_cases

NAMES = "id,statement,script\n"


def read(tmp_path: Path, data: bytes | str, name: str = "file", format: str = "") -> list[Record]:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return list(Source(path, format=format))


def problems(records: list[Record]) -> list[tuple[int, str]]:
    return [(one.line, one.problem[:24]) for one in records if one.problem]


def test_the_layout_is_told_by_looking(tmp_path: Path) -> None:
    wanted = {
        ("x", '{"id": "a"}\n{"id": "b"}'): Format.JSONL,
        ("x", '\ufeff{"id": "a"}'): Format.JSONL,
        ("x.json", '{"id": "a"}\n{"id": "b"}'): Format.JSONL,  # despite the extension
        ("x.jsonl", "{broken\n{}"): Format.JSONL,
        ("x", "[{}]"): Format.JSON,
        ("x.jsonl", "[\n{}\n]"): Format.JSON,  # despite the extension
        ("x.jsonl", "[1]\n{}"): Format.JSONL,
        ("x", '{"items": [{}]}'): Format.JSON,
        ("x", '{\n "items": [{}]}'): Format.JSON,
        ("x", "id;statement\na;b"): Format.CSV,
        ("x.csv", "[id],{s}\na,b"): Format.CSV,  # because of its extension
        ("x.TSV", "[id]\t{s}\na\tb"): Format.CSV,
    }
    found = {}
    for name, data in wanted:
        (tmp_path / name).write_text(data, encoding="utf-8")
        source = Source(tmp_path / name)
        found[name, data] = source.layout
        list(source)
    assert found == wanted


def test_what_can_not_be_read_at_all_says_why(tmp_path: Path) -> None:
    for data, why in (
        (b"", "empty"),
        (b"\xef\xbb\xbf \n\n", "empty"),
        (b'id,"statement\na,b\n', "quote in the header"),
        (b"\x7fELF\2\1\1\0\0\0\0\0", "binary"),
        (b'{\n"name": 1}', "no array"),
        (b"id,statement,id\na,b,c", "same name"),
        (b"\n\n,\n", "no header"),
    ):
        with pytest.raises(UnreadableFile, match=why):
            read(tmp_path, data)
    with pytest.raises(OSError, match="directory"):
        Source(tmp_path)


def test_one_bad_line_leaves_the_others(tmp_path: Path) -> None:
    for line, problem in (
        (b'{"id": ', "is not valid JSON"),
        (b'"text"', "is not a JSON object"),
        (b"[1, 2]", "is not a JSON object"),
        (b'{"id": Infinity}', "is not valid JSON"),
        (b'{"id": "\xe9"}', "is not valid UTF-8"),
        (b'{"id": "a\0"}', "is not valid JSON"),
        (b'{"a":' * 5_000 + b"1", "is nested too deeply"),
    ):
        records = read(tmp_path, b'{"id": "a"}\r\n\r\n' + line + b'\n{"id": "b"}', "x.jsonl")
        assert [one.values.get("id") for one in records] == ["a", None, "b"], line[:30]
        assert records[1].line == 3
        assert records[1].problem.startswith(problem), line[:30]


def test_one_bad_element_leaves_the_others(tmp_path: Path) -> None:
    for element, problem in (
        ('{"id": }', "is not valid JSON"),
        ("17", "is not a JSON object"),
        ('{"a":' * 5_000 + "1" + "}" * 5_000, "is nested too deeply"),
    ):
        records = read(tmp_path, f'[{{"id": "a"}}, {element}, {{"id": "b"}}]')
        assert [one.values.get("id") for one in records][-1] == "b", element[:30]
        assert records[1].problem.startswith(problem), element[:30]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "before", "after"),
    first_cases(
        1,
        [
            ("x.jsonl", '{"id": "a"}\n{"id": "', '"}\n{"id": "b"}\n'),
            ("x.csv", "id,statement\na,b\n", "\nb,c\n"),
            ("x.json", '[{"id": "a"}, {"id": "', '"}, {"id": "b"}]'),
        ],
    ),
)
def test_long_line_is_not_read_whole(tmp_path: Path, name: str, before: str, after: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.write(before.encode() + b"x" * 100_000)
        file.seek(200_000_000, os.SEEK_CUR)  # a sparse range, which reads as NUL bytes
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
    data = NAMES.encode() + b"a,b,c,d\nb,caf\xe9,x\n" + "c,naïve café,ls\n".encode()
    records = read(tmp_path, data, "x.csv")
    assert problems(records) == [(2, "has 4 cells, but the hea")]
    with pytest.raises(RowProblem, match="is not valid UTF-8"):
        read_item(records[1].values)
    assert read_item(records[2].values)[0].external_id == "c"


@settings(max_examples=40)
@given(st.text(st.sampled_from("=+-@\t\r'a"), max_size=4) | st.text())
def test_a_cell_made_safe_is_exactly_the_text_again(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text
    assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_row_that_is_refused_names_its_column() -> None:
    rows: list[tuple[dict[str, object], str]] = [
        ({"id": "a"}, "statement"),
        ({"id": "a", "statement": "  "}, "statement"),
        ({"id": "a", "statement": 7}, "statement"),
        ({"id": "a", "statement": "x\0"}, "statement"),
        ({"id": "a", "statement": "\ud800"}, "statement"),
        ({"id": "a", "statement": "x" * 4_001}, "statement"),
        ({"id": "a\nb", "statement": "x"}, "id"),
        ({"id": "a" * 201, "statement": "x"}, "id"),
        ({"id": ["a"], "statement": "x"}, "id"),
        ({"id": 10**300, "statement": "x"}, "id"),
        ({"statement": "x", "verdict": "good"}, "verdict"),
        ({"statement": "x", "execution": 1.5}, "execution"),
        ({"statement": "x", "execution": "nan"}, "execution"),
        ({"statement": "x", "refined": "ls"}, "script"),  # refined script without feedback
        ({"statement": "x", "known": {"script": 3}}, "script"),
        ({"statement": "x", "severity": True}, "severity"),
        ({"statement": "x", "sham": "maybe"}, "sham"),
    ]
    for row, column in rows:
        with pytest.raises(RowProblem) as problem:
            read_item(row)
        assert problem.value.column == column, row


def test_only_0_1_2_and_empty_are_scores() -> None:
    for score in (3, -1, "3", "2.5", 2.5, "two", True, [2], {"value": 2}, "1e0"):
        with pytest.raises(RowProblem, match=r"is not a score \(0, 1, 2 or empty\)"):
            read_scores({"item": "a", "reviewer": "r", "script": score}, line=1, columns=Columns())
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


def test_known_data_sets_and_missing_ids_are_read() -> None:
    def id_of(**row: object) -> str:
        return read_item(row)[0].external_id

    assert id_of(statement="x") == id_of(statement="x ", script="ls")
    assert id_of(statement="x", reference="ls") != id_of(statement="x")
    assert id_of(id=17, statement="x") == "17"
    intercode = Columns().with_habits_of(["query", "gold"], ITEM_HABITS)
    assert read_item(intercode.rename({"query": "Do", "gold": "ls"}))[0].reference == "ls"
    bench = Columns().with_habits_of(["test", "name", "prompt", "script", "path"], ITEM_HABITS)
    case, item = read_item(bench.rename({"test": 3, "prompt": "Do", "script": "ls"}))
    assert (case.external_id, case.statement, item.script) == ("3", "Do", "ls")
