"""Run an import in slices. Each slice is one transaction, which also records the progress."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from django.db import transaction

from core.files.records import Record
from review.exchange.source import Source

SLICE = 5_000  # records
SLICE_BYTES = 16_000_000
_ALLOCATIONS = 50_000  # per garbage collection
_TURN = 0.001  # seconds that a thread may run while another thread is waiting

Row = TypeVar("Row")
Write = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A message about a line: why it was rejected, or which parts were skipped."""

    line: int
    reason: str
    external_id: str = ""
    column: str = ""
    refused: bool = True

    def __str__(self) -> str:
        where = f" [{self.external_id}]" if self.external_id else ""
        column = f"{self.column}: " if self.column else ""
        return f"{self.line}{where}: {column}{self.reason}"


@dataclass(kw_only=True)
class Counts:
    """The numbers of records by result. `read` also includes records that this import ignores, such as scores."""

    read: int = 0
    rows: int = 0
    kept: int = 0
    unchanged: int = 0
    refused: int = 0


@dataclass(kw_only=True)
class Outcome:
    """The result of a slice."""

    kept: int = 0
    unchanged: int = 0
    refused: int = 0
    remarks: list[Remark] = field(default_factory=list)

    def refuse(self, line: int, reason: str, *, external_id: str = "", column: str = "") -> None:
        """Record a rejected row."""
        self.refused += 1
        shown = "".join(one if one.isprintable() else "\ufffd" for one in external_id[:200])
        self.remarks.append(Remark(line=line, reason=reason, external_id=shown, column=column))

    def remark(self, line: int, reason: str, *, column: str = "") -> None:
        """Add a remark about an imported row."""
        self.remarks.append(Remark(line=line, reason=reason, column=column, refused=False))


def nothing_to_write() -> None:
    """Do nothing. Slices without valid rows use this function to write."""


class Journal(Protocol):
    """Records an import's progress in each slice's transaction. Raising an exception rolls the transaction back."""

    def note(self, counts: Counts, remarks: Sequence[Remark], *, position: int) -> None:
        """Record the progress, including the slice that is about to be committed."""


class Quiet:
    """A journal that records nothing."""

    def note(self, counts: Counts, remarks: Sequence[Remark], *, position: int) -> None:
        """Do nothing."""


class _Slice(NamedTuple):
    """Consecutive records of the file, and the file position after them."""

    records: list[Record]
    position: int


def run_import(
    source: Source,
    read: Callable[[Sequence[Record], Outcome], list[Row]],
    take: Callable[[list[Row], Outcome], Write],
    *,
    journal: Journal,
    counts: Counts | None = None,
) -> Counts:
    """Import the records and return the counts. Records that an earlier attempt has read are skipped.

    `read` parses a slice's records without accessing the database. `take` prepares the slice's rows inside a
    transaction and returns a function that writes them. While the rows are written, another thread reads the next
    slice.
    """
    counts = counts or Counts()

    def make_rows() -> Iterator[tuple[_Slice, list[Row], Outcome]]:
        for one in _slices(source, after=counts.read):
            outcome = Outcome()
            if source.remark and not counts.read:
                outcome.remark(1, source.remark)
            yield one, read(one.records, outcome), outcome

    slices = make_rows()
    with _collecting_rarely(), _taking_short_turns(), ThreadPoolExecutor(max_workers=1) as thread:
        coming = thread.submit(next, slices, None)
        while (found := coming.result()) is not None:
            one, rows, outcome = found
            with transaction.atomic():
                write = take(rows, outcome)
                # Start the thread only now, because two threads that run Python code slow each other down.
                coming = thread.submit(next, slices, None)
                write()
                counts.read += len(one.records)
                counts.kept += outcome.kept
                counts.unchanged += outcome.unchanged
                counts.refused += outcome.refused
                counts.rows = counts.kept + counts.unchanged + counts.refused
                journal.note(counts, outcome.remarks, position=one.position)
    return counts


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Collect garbage less often.

    Rows have no reference cycles, and garbage collection would take a fifth of the time.
    """
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _taking_short_turns() -> Iterator[None]:
    """Shorten the thread switch interval, so that the thread that is waiting for the database resumes sooner."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _slices(source: Source, *, after: int) -> Iterator[_Slice]:
    """Yield slices of at most SLICE records. Slices with large records have fewer records, which limits memory use."""
    found: list[Record] = []
    began = 0
    for number, record in enumerate(source):
        if number < after:
            continue
        found.append(record)
        if len(found) >= SLICE or source.position - began >= SLICE_BYTES:
            yield _Slice(found, source.position)
            found, began = [], source.position
    if found:
        yield _Slice(found, source.position)
