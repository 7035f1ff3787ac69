"""What an import did with each row, or would do."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ImportOutcome(StrEnum):
    """What an import does with a row, or would do."""

    ENTRY = "entry"  # a new entry
    VERSION = "version"  # a new version of an entry that was there
    LABELS = "labels"  # other tags, links or owner; the version stays
    PHRASINGS = "phrasings"  # new wordings of an entry that has the script
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class RowOutcome:
    """A row, what happened to it, and why."""

    place: str
    outcome: ImportOutcome
    title: str = ""
    slug: str = ""  # of the entry that was there, or was asked for
    why: str = ""
    warning: str = ""  # of a preview: a syntax error, a high risk, a title that exists


@dataclass(frozen=True)
class RowError:
    """A row that was refused."""

    place: str
    reason: str


@dataclass
class ImportReport:
    """What an import did, or would have done: row by row."""

    rows: list[RowOutcome] = field(default_factory=list)

    @property
    def read(self) -> int:
        """Rows in all."""
        return len(self.rows)

    @property
    def entries(self) -> int:
        """New entries."""
        return self.count(ImportOutcome.ENTRY)

    @property
    def versions(self) -> int:
        """New versions of entries that were there before."""
        return self.count(ImportOutcome.VERSION)

    @property
    def labels(self) -> int:
        """Entries with other tags, links or owner."""
        return self.count(ImportOutcome.LABELS)

    @property
    def phrasings(self) -> int:
        """Return the number of rows that became phrasings, because their script already existed."""
        return self.count(ImportOutcome.PHRASINGS)

    @property
    def unchanged(self) -> int:
        """Rows that change nothing."""
        return self.count(ImportOutcome.UNCHANGED)

    @property
    def errors(self) -> list[RowError]:
        """The rows that were refused."""
        return [
            RowError(row.place, row.why)
            for row in self.rows
            if row.outcome is ImportOutcome.REFUSED
        ]

    def count(self, outcome: ImportOutcome) -> int:
        """How many rows ended so."""
        return sum(row.outcome is outcome for row in self.rows)

    def counts(self) -> dict[str, int]:
        """The figures, by name."""
        names = ("read", "entries", "versions", "labels", "phrasings", "unchanged")
        return {**{name: getattr(self, name) for name in names}, "refused": len(self.errors)}
