"""The results of an import or of its preview, by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ImportOutcome(StrEnum):
    """The result of importing a row."""

    ENTRY = "entry"  # a new entry
    VERSION = "version"  # a new version of an existing entry
    LABELS = "labels"  # different tags, links or owner; the version stays the same
    PHRASINGS = "phrasings"  # new phrasings of an entry that has the script
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class RowOutcome:
    """A row with its result and the reason."""

    place: str
    outcome: ImportOutcome
    title: str = ""
    slug: str = ""  # the existing entry's slug, or the requested slug
    why: str = ""
    warning: str = ""  # in a preview: a syntax error, a high risk, or an existing title


@dataclass(frozen=True)
class RowError:
    """A rejected row and the reason."""

    place: str
    reason: str


@dataclass
class ImportReport:
    """The results of an import or of its preview, by row."""

    rows: list[RowOutcome] = field(default_factory=list)

    @property
    def read(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    @property
    def entries(self) -> int:
        """Return the number of new entries."""
        return self.count(ImportOutcome.ENTRY)

    @property
    def versions(self) -> int:
        """Return the number of new versions of existing entries."""
        return self.count(ImportOutcome.VERSION)

    @property
    def labels(self) -> int:
        """Return the number of rows that changed the tags, links or owner of an entry."""
        return self.count(ImportOutcome.LABELS)

    @property
    def phrasings(self) -> int:
        """Return the number of rows added as phrasings, because their script already existed."""
        return self.count(ImportOutcome.PHRASINGS)

    @property
    def unchanged(self) -> int:
        """Return the number of rows that changed nothing."""
        return self.count(ImportOutcome.UNCHANGED)

    @property
    def errors(self) -> list[RowError]:
        """Return the rejected rows."""
        return [
            RowError(row.place, row.why)
            for row in self.rows
            if row.outcome is ImportOutcome.REFUSED
        ]

    def count(self, outcome: ImportOutcome) -> int:
        """Return the number of rows with this result."""
        return sum(row.outcome is outcome for row in self.rows)

    def counts(self) -> dict[str, int]:
        """Return the number of rows per result, by name."""
        names = ("read", "entries", "versions", "labels", "phrasings", "unchanged")
        return {**{name: getattr(self, name) for name in names}, "refused": len(self.errors)}
