"""An import from its first record to its last: in slices, each a transaction that also says how far it came."""

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
_ALLOCATIONS = 50_000  # between two looks of the collector
_TURN = 0.001  # seconds that a thread may work while another waits for its turn

Row = TypeVar("Row")
Write = Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Remark:
    """What is said of one line: why it was refused, or what was left out of it."""

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
    """How many records were read, and what became of them; what is for somebody else is in `read` only."""

    read: int = 0
    rows: int = 0
    kept: int = 0
    unchanged: int = 0
    refused: int = 0


@dataclass(kw_only=True)
class Outcome:
    """What became of one slice."""

    kept: int = 0
    unchanged: int = 0
    refused: int = 0
    remarks: list[Remark] = field(default_factory=list)

    def refuse(self, line: int, reason: str, *, external_id: str = "", column: str = "") -> None:
        """Note a row that is not taken."""
        self.refused += 1
        shown = "".join(one if one.isprintable() else "\ufffd" for one in external_id[:200])
        self.remarks.append(Remark(line=line, reason=reason, external_id=shown, column=column))

    def remark(self, line: int, reason: str, *, column: str = "") -> None:
        """Note something about a row that is taken all the same."""
        self.remarks.append(Remark(line=line, reason=reason, column=column, refused=False))


def nothing_to_write() -> None:
    """What there is to write of a slice without a good row."""


class Journal(Protocol):
    """Who follows an import. Told inside each slice's transaction: what it raises undoes the slice."""

    def note(self, counts: Counts, remarks: Sequence[Remark], *, position: int) -> None:
        """So much is done, with the slice that is about to be committed."""


class Quiet:
    """Nobody follows."""

    def note(self, counts: Counts, remarks: Sequence[Remark], *, position: int) -> None:
        """Nothing to do."""


class _Slice(NamedTuple):
    """Records that follow each other in the file, and how far it was read with them."""

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
    """Go through the records; `counts` says what an earlier try has done, whose records are passed over.

    `take` makes a slice's rows ready inside a transaction, and what it returns writes them there. Meanwhile, while
    the database is at work, `read` makes rows of the next slice's records in a thread of its own; it asks the
    database nothing.
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
                # Not sooner: of two threads at work in Python each takes the time that the other needs.
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
    """The rows of a slice are many and hold no cycles: to look for some as often as ever costs a fifth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _taking_short_turns() -> Iterator[None]:
    """Whoever waits for the database goes on soon after its answer, and not when the thread that reads is through."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _slices(source: Source, *, after: int) -> Iterator[_Slice]:
    """Slices of so many records, or fewer where these are large: memory stays bounded either way."""
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
