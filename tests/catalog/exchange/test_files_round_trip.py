"""Tests that in every format, data written to a file is read back unchanged."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.exchange.formats import (
    EntryRecord,
    Format,
    OtherVersion,
    Wording,
    file_parts,
    read_file,
    read_rows,
    write_folder,
)
from catalog.version_details import Link, Parameter

CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
# Text that spreadsheets, YAML and shells misread. Hypothesis would rarely generate it by chance.
ODD = st.sampled_from(
    ["=1+1", "'=x", "-rf", "@a", "\t", "\r\n", "a\rb", '"', "''", "[", "[1]", "~", "null", "yes",
     "2024-01-01", "# no", ": ", "&a *a", "!!str", "\u2028", "\x85", "\ufeff", "\x1b[0m", "{}", "%"]
)  # fmt: skip
TEXT = st.one_of(st.text(CHARACTERS, max_size=20), ODD, st.builds(str.__add__, ODD, ODD))
WORDS = TEXT.map(str.strip).filter(bool)
NAMES = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,8}\Z")
SLUGS = st.from_regex(r"\A[a-z0-9][a-z0-9_-]{0,12}\Z")


def maybe(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | strategy


PARAMETERS = st.lists(
    st.builds(
        Parameter,
        name=NAMES,
        type=st.sampled_from(["text", "number", "path"]),
        required=st.booleans(),
        default=maybe(TEXT),
        description=TEXT.map(str.strip),
    ),
    max_size=3,
    unique_by=lambda parameter: parameter.name,
).map(tuple)
LINKS = st.lists(
    st.builds(Link, kind=st.just("runbook"), label=TEXT, url=st.just("https://example.org/=a")),
    max_size=2,
).map(tuple)
DETAILS = {
    "parameters": maybe(PARAMETERS),
    "tags": maybe(st.lists(SLUGS, max_size=3).map(tuple)),
    "risk": st.sampled_from([None, "low", "high"]),
    "side_effect": st.sampled_from([None, "mutating"]),
    "runs_on": st.sampled_from([None, "container"]),
    "operating_system": maybe(WORDS),
    "tools": maybe(st.lists(TEXT.filter(bool), max_size=3).map(tuple)),
    "privileges": st.sampled_from([None, "root"]),
    "check_before": maybe(WORDS),
    "check_after": maybe(WORDS),
    "undo": maybe(WORDS),
    "repeatable": st.sampled_from([None, True, False]),
    "links": maybe(LINKS),
}
SCRIPTS = TEXT.filter(bool)
STATES = st.sampled_from(["draft", "in_review", "deprecated"])
ABOUT = st.dictionaries(NAMES, TEXT | st.integers() | st.lists(TEXT, max_size=2), max_size=2)
OTHERS = st.lists(
    st.builds(
        OtherVersion,
        number=st.integers(1, 9),
        state=STATES,
        script=SCRIPTS,
        about=maybe(ABOUT),
        **DETAILS,
    ),
    max_size=2,
    unique_by=lambda version: version.number,
).map(lambda versions: tuple(sorted(versions, key=lambda version: version.number)))
RECORDS = st.builds(
    EntryRecord,
    slug=SLUGS,
    title=WORDS,
    phrasings=st.lists(
        st.builds(Wording, text=WORDS, source=st.sampled_from(["imported", "curator", "statement"])),
        max_size=3,
    ).map(tuple),
    script=SCRIPTS,
    owner=maybe(WORDS),
    number=maybe(st.integers(1, 99)),
    state=st.none() | st.just("verified") | STATES,
    suspended=maybe(WORDS),
    about=maybe(ABOUT),
    versions=OTHERS,
    **DETAILS,
)  # fmt: skip
TITLED = st.lists(RECORDS, min_size=1, max_size=3, unique_by=lambda record: record.slug)


def read_back(data: bytes, format: Format) -> list[EntryRecord]:
    rows = list(read_file(io.BytesIO(data), format))
    assert [row.problem for row in rows if row.problem] == []
    return [row.record for row in rows if row.record is not None]


@pytest.mark.slow
@pytest.mark.parametrize("format", [Format.JSONL, Format.CSV])
@given(records=TITLED)
@settings(max_examples=25, deadline=None)
def test_rows_come_back_as_they_were(format: Format, records: list[EntryRecord]) -> None:
    assert read_back(b"".join(file_parts(records, format)), format) == records


@pytest.mark.slow
@given(records=TITLED)
@settings(max_examples=15, deadline=None)
def test_folders_come_back_as_they_were(records: list[EntryRecord]) -> None:
    data = b"".join(file_parts(records, Format.ZIP))
    assert read_back(data, Format.ZIP) == sorted(records, key=lambda record: str(record.slug))
    with TemporaryDirectory() as name:
        for record in records:
            write_folder(Path(name) / str(record.slug), record)
        rows = list(read_rows(Path(name)))
    assert {row.place: row.record for row in rows} == {record.slug: record for record in records}


@pytest.mark.slow
@given(records=TITLED)
@settings(max_examples=15, deadline=None)
def test_no_cell_of_an_export_begins_as_a_formula_does(records: list[EntryRecord]) -> None:
    text = b"".join(file_parts(records, Format.CSV)).decode()
    for row in csv.reader(io.StringIO(text, newline="")):
        assert [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_the_same_catalogue_is_the_same_archive() -> None:
    record = EntryRecord(slug="a", title="A", script="date\n")
    assert b"".join(file_parts([record], Format.ZIP)) == b"".join(file_parts([record], Format.ZIP))


def test_people_read_a_table_without_knowing_json() -> None:
    record = EntryRecord(
        slug="tell-date", title="Tell the date", script="date\n", tags=("time", "host"),
        phrasings=("What day is it?", "Today's date"), repeatable=True,
    )  # fmt: skip
    (_header, row) = csv.reader(
        io.StringIO(b"".join(file_parts([record], Format.CSV)).decode(), newline="")
    )
    for text in ("time, host", "What day is it?\nToday's date", "yes"):
        assert text in row
