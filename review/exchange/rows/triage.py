"""Filter records: reject broken records, skip other kinds of records, and rename columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.files.records import Record
from review.exchange.importing.importer import Outcome
from review.exchange.rows.columns import Columns, Habits
from review.exchange.source import OWN

MOST_NAMED = 50
MOST_LAYOUTS = 1_000


class Sorter:
    """Selects records by kind. An export contains all kinds in one file. Records in other files have no kind."""

    def __init__(
        self, columns: Columns, *, kinds: tuple[str, ...], ours: frozenset[str], habits: Habits
    ) -> None:
        self._columns, self._kinds, self._habits = columns, kinds, habits
        self._ours = ours | {wide.name for wide in columns.wide}
        self._named: set[str] = set()
        self._found: dict[tuple[str, ...], Columns] = {}  # found columns by the columns of a record

    def sort(
        self, records: Sequence[Record], outcome: Outcome
    ) -> Iterator[tuple[Record, dict[str, object], str]]:
        """Yield each selected record with its values under our names, and its kind. The default is the first kind."""
        for record in records:
            if record.problem:
                outcome.refuse(record.line, record.problem)
                continue
            kind = record.values.get(OWN)
            if kind in (None, ""):
                values = self._columns_of(tuple(record.values)).rename(record.values)
                if values.keys() - self._ours:
                    self._name_unknown(record.line, values, outcome)
                yield record, values, self._kinds[0]
            elif kind in self._kinds:
                yield record, record.values, str(kind)

    def _columns_of(self, names: tuple[str, ...]) -> Columns:
        found = self._found.get(names)
        if found is None:
            if len(self._found) >= MOST_LAYOUTS:
                self._found.clear()
            similar = self._columns.with_similar(names, self._ours)
            found = similar.with_habits_of([*names, *similar.named], self._habits)
            self._found[names] = found
        return found

    def _name_unknown(self, line: int, values: dict[str, object], outcome: Outcome) -> None:
        """Report each ignored column once."""
        for name in values.keys() - self._ours - self._named:
            if len(self._named) >= MOST_NAMED:
                return
            self._named.add(name)
            shown = name if len(name) <= 100 and name.isprintable() else repr(name[:80])
            outcome.remark(line, "unrecognized column, ignored", column=shown)
