"""Import entries from files: read rows, decide on each row, and write the rows in chunks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.embedding import EmbedderUnavailable
from catalog.entries.services.creation import Prepared, prepare
from catalog.entries.services.derived_data import refresh
from catalog.exchange.formats import EntryRecord, Row, UnreadableFile, read_rows
from catalog.exchange.services import import_warnings
from catalog.exchange.services.import_plan import (
    ExistingData,
    ImportPlan,
    ImportStep,
    Need,
    RowsBefore,
    decide,
)
from catalog.exchange.services.import_report import ImportOutcome, ImportReport, RowOutcome
from catalog.exchange.services.import_writing import carry_out
from catalog.exchange.services.starter_cases import load_starter_cases
from catalog.models import ToolRule, Version
from catalog.retrieval import vector_store
from core.database.advisory_lock import lock_name
from core.errors import BadInput, Refused

logger = logging.getLogger(__name__)

STARTER = Path(__file__).resolve().parents[2] / "starter"
CHUNK = 100  # rows per transaction
ANALYSED_AT_ONCE = 4  # threads are enough, because ShellCheck is a separate process
State = Version.State
Told = Callable[[ImportReport], None]


def import_entries(
    source: Path,
    *,
    by: User | None,
    state: State = State.IN_REVIEW,
    dry_run: bool = False,
) -> ImportReport:
    """Import a JSONL, CSV or .zip file, an entry folder or a folder of entry folders. Raises OSError and the errors of
    `import_rows`.
    """
    return import_rows(read_rows(source), name=source.name, by=by, state=state, dry_run=dry_run)


def import_rows(
    rows: Iterable[Row],
    *,
    name: str,
    by: User | None,
    state: State = State.IN_REVIEW,
    dry_run: bool = False,
    told: Told | None = None,
) -> ImportReport:
    """Import rows as entries. Store the valid rows, and report the result of every row. `told` receives the report
    after each chunk.

    A row with an existing slug becomes a new version of that entry, unless nothing changes. If an entry already has the
    row's script, the row's title and phrasings become phrasings of that entry. Importing the same file again therefore
    changes nothing. No row gets a higher state than the file specifies.

    If `state` is verified, the curator `by` vouches for the entries. Otherwise, `by` becomes their author, and another
    user must verify them. Raises PermissionDenied and BadInput.
    """
    if by is not None:
        require(by, CURATE)
    if state == State.VERIFIED and by is None:
        raise BadInput(_("Specify the curator who verifies the entries."), field="by")
    if state == State.DEPRECATED:
        raise BadInput(_("Entries can be imported as draft, in_review or verified."), field="state")
    plan = ImportPlan(
        state=state,
        by=by,
        author=None if state == State.VERIFIED else by,
        origin=f"import of {name}",
        state_of_changed=state,
    )
    report = ImportReport()
    try:
        _run(rows, plan, report, dry_run=dry_run, told=told)
    except UnreadableFile as error:
        raise BadInput(str(error), field="file") from error
    return report


def load_starter(*, by: User | None = None) -> ImportReport:
    """Import the starter catalogue as verified entries and embed them. Repeated calls change nothing.

    If a release changes an entry, the new version is added in review, because users may rely on the old version.
    """
    plan = ImportPlan(
        state=State.VERIFIED,
        by=by,
        author=None,
        origin="starter catalogue",
        state_of_changed=State.IN_REVIEW,
        sets_labels=False,
    )
    report = ImportReport()
    with transaction.atomic():
        lock_name("starter catalogue")
        _run(read_rows(STARTER), plan, report)
        load_starter_cases(STARTER)
    try:
        vector_store.embed_missing()
    except EmbedderUnavailable as error:
        logger.warning("The starter catalogue has no vectors yet: %s", error)
    return report


def _run(
    rows: Iterable[Row],
    plan: ImportPlan,
    report: ImportReport,
    *,
    dry_run: bool = False,
    told: Told | None = None,
) -> None:
    rows, seen = iter(rows), RowsBefore(is_dry=dry_run)
    while chunk := list(islice(rows, CHUNK)):
        report.rows += _foresee(chunk, plan, seen) if dry_run else _take_in(chunk, plan, seen)
        if told is not None:
            told(report)


def _foresee(chunk: Sequence[Row], plan: ImportPlan, seen: RowsBefore) -> Iterator[RowOutcome]:
    """Yield the planned results of the rows, without database writes or locks."""
    records = _records(chunk)
    known = ExistingData(records, seen)
    titles = import_warnings.read_titles(records)
    tools = ToolRule.objects.in_force()
    with ThreadPoolExecutor(ANALYSED_AT_ONCE) as pool:
        decided = [(row, _decide_dry(row, known, seen, plan)) for row in chunk]
        warnings = [
            pool.submit(import_warnings.check_scripts, one.needs, tools)
            for _row, one in decided
            if isinstance(one, ImportStep)
        ]
        for row, one in decided:
            if not isinstance(one, ImportStep):
                yield _refused(row, one)
                continue
            same = import_warnings.say_same_title(row, one, titles, seen.titles)
            said = "; ".join([*same, *warnings.pop(0).result()])
            yield replace(_outcome(row, one), warning=said)


def _decide_dry(
    row: Row, known: ExistingData, seen: RowsBefore, plan: ImportPlan
) -> ImportStep | Refused:
    """Return the decision about the row and record it for later rows, or return the error if the row is rejected."""
    try:
        step = decide(row, known, seen, plan)
    except Refused as error:
        return error
    entry_id = seen.make_up() if step.entry_id is None else step.entry_id
    known.note(step, entry_id)
    seen.note(row, step, entry_id)
    return step


def _take_in(chunk: Sequence[Row], plan: ImportPlan, seen: RowsBefore) -> list[RowOutcome]:
    """Write the rows in one transaction and return their results. Rejected rows have no effect."""
    records = _records(chunk)
    prepared = _prepare(chunk, records, plan)
    outcomes: list[RowOutcome] = []
    with transaction.atomic():
        lock_name("import")
        known = ExistingData(records, seen)
        changed: set[int] = set()
        for row in chunk:
            try:
                step = decide(row, known, seen, plan)
                with transaction.atomic():
                    written = carry_out(step, prepared, plan, known.owners)
            except Refused as error:
                outcomes.append(_refused(row, error))
                continue
            if written.has_changed:
                changed.add(written.entry_id)
            step = replace(step, slug=written.slug or step.slug)
            known.note(step, written.entry_id)
            seen.note(row, step, written.entry_id)
            outcomes.append(_outcome(row, step))
        if changed:
            refresh(sorted(changed))
    return outcomes


def _prepare(
    chunk: Sequence[Row], records: Sequence[EntryRecord], plan: ImportPlan
) -> Mapping[Need, Prepared]:
    """Analyze the scripts of new versions in parallel, before the transaction starts."""
    seen = RowsBefore(is_dry=True)
    known = ExistingData(records, seen)
    needed: dict[Need, None] = {}
    for row in chunk:
        try:
            step = decide(row, known, seen, plan)
        except Refused:  # `_take_in` decides again and reports the error
            continue
        known.note(step, seen.make_up() if step.entry_id is None else step.entry_id)
        needed.update(dict.fromkeys(step.needs))
    with ThreadPoolExecutor(ANALYSED_AT_ONCE) as pool:
        return dict(zip(needed, pool.map(lambda need: prepare(*need), needed), strict=True))


def _records(chunk: Sequence[Row]) -> list[EntryRecord]:
    return [row.record for row in chunk if row.record is not None]


def _refused(row: Row, error: Refused) -> RowOutcome:
    return RowOutcome(
        place=row.place,
        outcome=ImportOutcome.REFUSED,
        title=row.title,
        slug=row.record.slug or "" if row.record else "",
        why=str(error),
    )


def _outcome(row: Row, step: ImportStep) -> RowOutcome:
    return RowOutcome(
        place=row.place,
        outcome=step.outcome,
        title=step.record.title,
        slug=step.slug,
        why=step.why,
    )
