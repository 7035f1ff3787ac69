"""Entries in from files, and out to them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, Value, When

from catalog import vectors
from catalog.audit import record as audit
from catalog.embedding import EmbedderUnavailable
from catalog.files import EntryRecord, Row, read_rows
from catalog.models import Entry, Phrasing, Version
from catalog.services.base import CURATE, lock_entry, refresh, require
from catalog.services.making import (
    RESERVED_SLUGS,
    Prepared,
    add_phrasings,
    add_version,
    hold,
    make_entry,
    prepare,
)
from catalog.services.versions import details_of, mark_verified
from catalog.types import BadInput

logger = logging.getLogger(__name__)

STARTER = Path(__file__).resolve().parent.parent / "starter"
CHUNK = 100  # rows of one transaction
ANALYSED_AT_ONCE = 4  # ShellCheck is a process of its own
VERIFIED_FIRST = Case(When(state=Version.State.VERIFIED, then=Value(0)), default=Value(1))
State = Version.State


@dataclass(frozen=True)
class RowError:
    """A row that was refused."""

    place: str
    reason: str


@dataclass(kw_only=True)
class ImportReport:
    """What an import did, or would have done."""

    read: int = 0
    entries: int = 0
    versions: int = 0  # of entries that were there before
    phrasings: int = 0  # rows that became phrasings, for their script was there before
    unchanged: int = 0
    errors: list[RowError] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """How rows become entries."""

    state: State
    by: User | None
    origin: str
    # Of a new version of an entry that exists; the starter catalogue replaces nobody's work.
    state_of_changed: State


def import_entries(
    source: Path,
    *,
    by: User | None,
    state: State = State.IN_REVIEW,
    dry_run: bool = False,
) -> ImportReport:
    """Import a JSONL file, an entry folder or a folder of them; good rows are kept.

    A row with a slug that exists is a new version of that entry, unless it has this script already.
    A row whose script some entry has becomes phrasings of it. So a second import changes nothing.
    Verified rows are vouched for by `by`, who has to be a curator. Raises OSError,
    PermissionDenied, BadInput.
    """
    if by is not None:
        require(by, CURATE)
    if state == State.VERIFIED and by is None:
        raise BadInput("Say who vouches for verified entries.", field="by")
    if state == State.DEPRECATED:
        raise BadInput("Entries can be imported as draft, in_review or verified.", field="state")
    plan = _Plan(state=state, by=by, origin=f"import of {source.name}", state_of_changed=state)
    report = ImportReport()
    if dry_run:
        with transaction.atomic():
            _import(read_rows(source), plan, report)
            transaction.set_rollback(True)
    else:
        _import(read_rows(source), plan, report)
    return report


def load_starter(*, by: User | None = None) -> ImportReport:
    """Bring in the entries that come with the product, verified, and their vectors; repeatable.

    Where a release changes a script, the new text waits in review: people may rely on the old one.
    """
    plan = _Plan(
        state=State.VERIFIED, by=by, origin="starter catalogue", state_of_changed=State.IN_REVIEW
    )
    report = ImportReport()
    with transaction.atomic():
        hold("starter catalogue")
        _import(read_rows(STARTER), plan, report)
    try:
        vectors.embed_missing()
    except EmbedderUnavailable as error:
        logger.warning("The starter catalogue has no vectors yet: %s", error)
    return report


def export_entries(*, state: State | None = None) -> Iterator[EntryRecord]:
    """One record for each entry: its verified version, else its newest; of those in `state`."""
    versions = Version.objects.order_by("entry_id", VERIFIED_FIRST, "-number").distinct("entry_id")
    if state is not None:
        versions = versions.filter(state=state)
    rows = Version.objects.filter(pk__in=versions.values("pk")).order_by("entry__slug")
    rows = rows.select_related("entry", "verified_by").prefetch_related("tags", "entry__phrasings")
    for version in rows.iterator(chunk_size=CHUNK):
        yield record_of(version)


def record_of(version: Version) -> EntryRecord:
    """The version with its entry's wordings, as files say it."""
    entry = version.entry
    return EntryRecord(
        slug=entry.slug,
        title=entry.title,
        phrasings=tuple(
            phrasing.text
            for phrasing in entry.phrasings.all()
            if phrasing.source != Phrasing.Source.TITLE
        ),
        script=version.script,
        about={
            "version": version.number,
            "state": version.state,
            "verified_by": version.verified_by.username if version.verified_by else None,
            "verified_at": version.verified_at.isoformat() if version.verified_at else None,
            "suspended": entry.suspended_at is not None,
            "provenance": version.provenance,
        },
        **dict(details_of(version)),
    )


class _Known:
    """Which entries exist for some records: by address, and by script."""

    def __init__(self, records: Sequence[EntryRecord]) -> None:
        slugs = [record.slug for record in records if record.slug]
        self.by_slug = dict(Entry.objects.filter(slug__in=slugs).values_list("slug", "pk"))
        self.holders: dict[str, list[int]] = {}
        versions = Version.objects.filter(
            sha256__in=[Version.hash_of(record.script) for record in records]
        ).order_by(VERIFIED_FIRST, "pk")
        for sha256, entry_id in versions.values_list("sha256", "entry"):
            self.note(sha256, entry_id)

    def note(self, sha256: str, entry_id: int, slug: str = "") -> None:
        """Remember what has just been made."""
        self.holders.setdefault(sha256, []).append(entry_id)
        if slug:
            self.by_slug[slug] = entry_id

    def find(self, record: EntryRecord) -> tuple[int | None, bool]:
        """The entry that the record belongs to, if any, and whether it has the script already."""
        holders = self.holders.get(Version.hash_of(record.script), [])
        named = self.by_slug.get(record.slug or "")
        if named is not None:
            return named, named in holders
        return (holders[0], True) if holders else (None, False)


def _import(rows: Iterable[Row], plan: _Plan, report: ImportReport) -> None:
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        report.read += len(chunk)
        report.errors += [RowError(row.place, row.problem) for row in chunk if row.problem]
        good = [(row.place, row.record) for row in chunk if row.record is not None]
        prepared = _prepare_new([record for _place, record in good])
        with transaction.atomic():
            hold("import")
            known = _Known([record for _place, record in good])
            changed = set()
            for (place, record), outcome in zip(good, prepared, strict=True):
                try:
                    changed |= _take_in(record, outcome, known, plan, report)
                except BadInput as error:
                    report.errors.append(RowError(place, str(error)))
            if changed:
                refresh(sorted(changed))


def _prepare_new(records: Sequence[EntryRecord]) -> list[Prepared | BadInput | None]:
    """What will become a version is analysed, several at once, before the transaction."""
    known = _Known(records)

    def prepare_one(record: EntryRecord) -> Prepared | BadInput | None:
        if known.find(record)[1]:
            return None
        try:
            return prepare(record.script, record.details)
        except BadInput as error:
            return error

    with ThreadPoolExecutor(ANALYSED_AT_ONCE) as pool:
        return list(pool.map(prepare_one, records))


def _take_in(
    record: EntryRecord,
    prepared: Prepared | BadInput | None,
    known: _Known,
    plan: _Plan,
    report: ImportReport,
) -> set[int]:
    """Store one record; the key of the entry that changed. Raises BadInput."""
    entry_id, has_script = known.find(record)
    if entry_id is not None and has_script:
        return _add_wordings(record, entry_id, report)
    if isinstance(prepared, BadInput):
        raise prepared
    if record.slug in RESERVED_SLUGS:
        raise BadInput(f"The slug {record.slug!r} is an address of the product's own.")
    prepared = prepared or prepare(record.script, record.details)
    if entry_id is None:
        entry = make_entry(record.title, by=plan.by, slug=record.slug or "")
        state = plan.state
        report.entries += 1
    else:
        entry = lock_entry(entry_id)
        state = plan.state_of_changed
        report.versions += 1
    add_phrasings(entry, record.phrasings, source=Phrasing.Source.IMPORTED)
    made = State.DRAFT if state == State.DRAFT else State.IN_REVIEW
    provenance = {"origin": plan.origin}
    version = add_version(
        entry, prepared, author=None, by=plan.by, provenance=provenance, state=made
    )
    audit(version, "imported", by=plan.by, origin=("", plan.origin))
    if state == State.VERIFIED:
        mark_verified(version, by=plan.by, note=plan.origin)
    known.note(prepared.sha256, entry.pk, entry.slug)
    return {entry.pk}


def _add_wordings(record: EntryRecord, entry_id: int, report: ImportReport) -> set[int]:
    entry = lock_entry(entry_id)
    texts = [record.title, *record.phrasings]
    if not add_phrasings(entry, texts, source=Phrasing.Source.IMPORTED):
        report.unchanged += 1
        return set()
    report.phrasings += 1
    return {entry_id}
