"""Decide how to import each row, based on the existing entries. This module does not write to the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Case, Value, When

from catalog.entries.services.creation import RESERVED_SLUGS, check, raised_risk
from catalog.entries.services.findings import ratings
from catalog.entries.services.versions import details_of
from catalog.exchange.formats import EntryRecord, OtherVersion, Row
from catalog.exchange.services.import_report import ImportOutcome
from catalog.models import Entry, Phrasing, Version
from catalog.version_details import VersionDetails
from core.errors import BadInput

VERIFIED_FIRST = Case(When(state=Version.State.VERIFIED, then=Value(0)), default=Value(1))
Need = tuple[str, VersionDetails]  # a script and its details
# Fields that do not affect how the script runs. They can change without a new version.
LABELS = ("tags", "links")


@dataclass(frozen=True, kw_only=True)
class ImportPlan:
    """The settings of an import: its origin, and the author and states of the versions that it creates."""

    state: Version.State
    by: User | None
    origin: str
    # The author of new versions, which another user must then verify. None if the importing curator vouches for the
    # versions.
    author: User | None
    # The state of new versions of existing entries. The starter catalogue uses a different state here, because it must
    # not replace users' work.
    state_of_changed: Version.State
    sets_labels: bool = True


@dataclass(frozen=True, kw_only=True)
class ImportStep:
    """The decision about a row."""

    outcome: ImportOutcome
    record: EntryRecord
    details: VersionDetails
    entry_id: int | None = None
    version: Version | None = None  # the version whose labels change
    slug: str = ""
    why: str = ""

    @property
    def needs(self) -> list[Need]:
        """Return the scripts to analyze for this step, with their details."""
        if self.outcome is ImportOutcome.VERSION:
            return [(self.record.script, self.details)]
        if self.outcome is ImportOutcome.ENTRY:
            others = [(version.script, version.details) for version in self.record.versions]
            return [(self.record.script, self.details), *others]
        return []


class Taken(NamedTuple):
    """The script and entry for a slug that an earlier row in the file already uses."""

    place: str
    sha256: str
    entry_id: int


class RowsBefore:
    """The real or previewed effects of earlier rows. One instance serves the whole import."""

    def __init__(self, *, is_dry: bool = False) -> None:
        self._is_dry = is_dry
        self._made_up = 0
        self.places: dict[str, Taken] = {}  # slugs of earlier rows
        self.titles: dict[str, str] = {}  # positions of new entries, by lowercase title
        # What a dry run would change: which entry has each script, and the phrasings of each entry.
        self.holders: dict[str, int] = {}
        self.added: dict[int, set[str]] = {}

    def make_up(self) -> int:
        """Return a placeholder primary key for an entry that the import would create. No database row has this key."""
        self._made_up -= 1
        return self._made_up

    def note(self, row: Row, step: ImportStep, entry_id: int) -> None:
        """Record the effects of a row for later rows."""
        sha256 = Version.hash_of(step.record.script)
        if step.record.slug:
            self.places.setdefault(step.record.slug, Taken(row.place, sha256, entry_id))
        if self._is_dry:
            self.holders.setdefault(sha256, entry_id)
            texts = self.added.setdefault(entry_id, set())
            texts.update([step.record.title, *step.record.wordings])


class ExistingData:
    """The existing data that is relevant for some records: entries by slug and by script, versions and phrasings."""

    def __init__(self, records: Sequence[EntryRecord], seen: RowsBefore) -> None:
        hashes = {Version.hash_of(record.script) for record in records}
        slugs = [record.slug for record in records if record.slug]
        self.entries = {entry.slug: entry for entry in _entries(slug__in=slugs)}
        self.slugs = {entry.pk: entry.slug for entry in self.entries.values()}
        self.holders: dict[str, list[int]] = {}
        self.versions: dict[tuple[int, str], list[Version]] = {}
        for version in _versions(sha256__in=hashes):
            self.holders.setdefault(version.sha256, []).append(version.entry_id)
            self.versions.setdefault((version.entry_id, version.sha256), []).append(version)
            self.slugs[version.entry_id] = version.entry.slug
        for sha256 in hashes & seen.holders.keys():
            self.holders.setdefault(sha256, []).append(seen.holders[sha256])
        self._added = seen.added
        self._texts: dict[int, set[str]] = {}
        for pk, text in Phrasing.objects.filter(entry__in=self.slugs).values_list("entry", "text"):
            self.texts_of(pk).add(text)
        owners = {record.owner for record in records if record.owner}
        people = User.objects.filter(username__in=owners, is_active=True) if owners else ()
        self.owners = {person.username: person for person in people}

    def texts_of(self, entry_id: int) -> set[str]:
        """Return the phrasings of an entry."""
        if entry_id not in self._texts:
            self._texts[entry_id] = set(self._added.get(entry_id, ()))
        return self._texts[entry_id]

    def note(self, step: ImportStep, entry_id: int) -> None:
        """Record the effects of a row for later rows."""
        holders = self.holders.setdefault(Version.hash_of(step.record.script), [])
        if entry_id not in holders:
            holders.append(entry_id)
        self.slugs.setdefault(entry_id, step.slug)
        self.texts_of(entry_id).update([step.record.title, *step.record.wordings])


def decide(row: Row, known: ExistingData, seen: RowsBefore, plan: ImportPlan) -> ImportStep:
    """Return the step for a row. Raises BadInput if the row is rejected."""
    record = row.record
    if record is None:
        raise BadInput(row.problem)
    sha256 = Version.hash_of(record.script)
    entry = known.entries.get(record.slug or "")
    if entry is not None and entry.merged_into is not None:
        raise BadInput(f"The entry {entry.slug!r} was merged into {entry.merged_into.slug!r}.")
    earlier = seen.places.get(record.slug or "")
    if earlier is not None:
        # Reject the row. Otherwise, both scripts would become versions of one entry, in file order.
        if earlier.sha256 != sha256:
            raise BadInput(
                f"The slug {record.slug!r} already belongs to another script: {earlier.place}."
            )
        step = _wordings(record, earlier.entry_id, record.slug or "", known, why=earlier.place)
    elif entry is not None:
        step = _of_entry(record, entry, sha256, known, plan)
    elif holders := known.holders.get(sha256):
        slug = known.slugs.get(holders[0], "")
        step = _wordings(record, holders[0], slug, known, why="its script already exists")
    else:
        step = _new_entry(record)
    for script, details in step.needs:
        check(script, details)
    return step


def _new_entry(record: EntryRecord) -> ImportStep:
    if record.slug in RESERVED_SLUGS:
        raise BadInput(f"The slug {record.slug!r} is reserved.")
    return ImportStep(
        outcome=ImportOutcome.ENTRY, record=record, details=record.details, slug=record.slug or ""
    )


def _of_entry(
    record: EntryRecord, entry: Entry, sha256: str, known: ExistingData, plan: ImportPlan
) -> ImportStep:
    """Return the step for a row with the slug of an existing entry. A different script or different details create a
    new version.
    """
    same = known.versions.get((entry.pk, sha256), [])
    said = _said(record.details)
    if not same:
        return ImportStep(
            outcome=ImportOutcome.VERSION,
            record=record,
            details=record.details,
            entry_id=entry.pk,
            slug=entry.slug,
            why="its script has changed",
        )
    differing = [
        (version, _differences(version, record.details, record.script)) for version in same
    ]
    version, names = min(differing, key=lambda pair: sum(name not in LABELS for name in pair[1]))
    running = [name for name in names if name not in LABELS]
    if running:
        return ImportStep(
            outcome=ImportOutcome.VERSION,
            record=record,
            details=details_of(version).model_copy(update=said),
            entry_id=entry.pk,
            slug=entry.slug,
            why=f"changed: {', '.join(running)}",
        )
    owner = known.owners.get(record.owner or "")
    if owner is not None and owner != version.owner:
        names = [*names, "owner"]
    if names and plan.sets_labels:
        if plan.by is None:
            raise BadInput(
                f"Specify the user who changes {', '.join(names)} of {entry.slug!r}.", field="by"
            )
        return ImportStep(
            outcome=ImportOutcome.LABELS,
            record=record,
            details=details_of(version).model_copy(update=said),
            entry_id=entry.pk,
            version=version,
            slug=entry.slug,
            why=f"changed: {', '.join(names)}",
        )
    return _wordings(record, entry.pk, entry.slug, known)


def _wordings(
    record: EntryRecord, entry_id: int, slug: str, known: ExistingData, *, why: str = ""
) -> ImportStep:
    """Return the step for a row whose script the entry already has. The row's title and phrasings become phrasings of
    the entry.
    """
    has_new = not known.texts_of(entry_id).issuperset([record.title, *record.wordings])
    return ImportStep(
        outcome=ImportOutcome.PHRASINGS if has_new else ImportOutcome.UNCHANGED,
        record=record,
        details=record.details,
        entry_id=entry_id,
        slug=slug,
        why=why,
    )


def _said(details: VersionDetails) -> dict[str, object]:
    return {
        name: value
        for name in VersionDetails.model_fields
        if (value := getattr(details, name)) is not None
    }


def _differences(version: Version, details: VersionDetails, script: str) -> list[str]:
    """Return the names of the fields that differ between the file and the version."""
    said = _said(details)
    there = details_of(version)
    differing = [name for name, value in said.items() if getattr(there, name) != value]
    if "tags" in differing and set(details.tags or ()) == set(there.tags or ()):
        differing.remove("tags")
    # A file may omit parameters that are found in the script itself.
    if "parameters" in differing and tuple(check(script, details)) == there.parameters:
        differing.remove("parameters")
    # The version's risk may differ only because it was raised to the level of the worst finding.
    if "risk" in differing and there.risk == raised_risk(
        str(details.risk), ratings(version.findings)
    ):
        differing.remove("risk")
    return differing


def lower_state(asked: Version.State, said: str | None) -> Version.State:
    """Return the requested state, or the state in the file if that is lower."""
    State = Version.State
    if said is None or asked == State.DRAFT and said != State.DEPRECATED:
        return asked
    return State(said) if said != State.VERIFIED else asked


def in_order(record: EntryRecord) -> Iterable[EntryRecord | OtherVersion]:
    """Return the versions of a record, sorted by number. The record itself represents the main version."""
    number = record.number or max((one.number for one in record.versions), default=0) + 1
    before = [one for one in record.versions if one.number < number]
    after = [one for one in record.versions if one.number >= number]
    by_number = (
        sorted(before, key=lambda one: one.number),
        sorted(after, key=lambda one: one.number),
    )
    return [*by_number[0], record, *by_number[1]]


def _entries(**filters: object) -> Iterable[Entry]:
    return Entry.objects.filter(**filters).select_related("merged_into").defer("document")


def _versions(**filters: object) -> Iterable[Version]:
    """Return versions of entries that were not merged, verified versions first."""
    return (
        Version.objects.filter(entry__merged_into=None, **filters)
        .order_by(VERIFIED_FIRST, "pk")
        .select_related("entry", "owner")
        .defer("entry__document", "findings", "script")
        .prefetch_related("tags")
    )
