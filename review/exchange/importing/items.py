"""Import items from a file: statements, with scripts, feedback and verdicts from other systems.

A row with a result becomes a finished Run with the origin *imported*, without model calls. A row without a result
becomes a Case, which can be run later. Static checks run when a script is viewed, because ShellCheck takes longer than
the rest of the import.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from core.audit import record
from core.database.statistics import MANY, refresh_statistics
from core.files.records import Record
from review.campaigns.services.rules import Rules, hold_items
from review.exchange.importing.campaign_rules import (
    keep_choice,
    keep_plan,
    name_primary,
    read_rules,
)
from review.exchange.importing.campaigns import (
    Configurations,
    check_person,
    check_takes_imports,
    find_campaign,
    find_or_create_campaign,
    people_of,
    require_manager,
)
from review.exchange.importing.copy_rows import CaseWords, ItemWords, word_case, word_item
from review.exchange.importing.importer import (
    Counts,
    Journal,
    Outcome,
    Quiet,
    Write,
    nothing_to_write,
    run_import,
)
from review.exchange.importing.item_writer import FILLED, ItemStore, Known, read_known
from review.exchange.importing.repeats import AgainRow, take_again
from review.exchange.rows.columns import ITEM_COLUMNS, ITEM_HABITS, SCORE_COLUMNS, Columns
from review.exchange.rows.item_rows import AGAIN, CaseRow, ItemRow, content_of, read_item
from review.exchange.rows.triage import Sorter
from review.exchange.rows.values import RowProblem
from review.exchange.source import OWN, Source
from review.models import Campaign
from review.queue.reviewer_checks.repeats import make_halos

_ALONE = (
    "the row does not name the item that it repeats; imported as a separate item,"
    " excluded from all figures"
)


def import_items(
    source: Source,
    to: Campaign | str,
    *,
    by: User | None,
    columns: Columns | None = None,
    journal: Journal | None = None,
    counts: Counts | None = None,
    scored: Collection[str] = (),
) -> Counts:
    """Import items into a campaign. If no campaign has the given name, create one with the first valid row.

    `scored` lists the score columns in the same file, which `import_scores` reads. Repeating an import is safe: a row
    whose ID exists is skipped if its content is the same and rejected otherwise. Raises UnreadableFile,
    PermissionDenied, NotAllowedNow, and BadInput for an invalid campaign name.
    """
    require_manager(by)
    taking = _ItemImport(to, columns or Columns(), by=by, scored=scored)
    first = None if taking.campaign else source.first()
    taking.first, taking.rules = first, read_rules(first)
    done = run_import(source, taking.read, taking.take, journal=journal or Quiet(), counts=counts)
    if done.kept > MANY:
        refresh_statistics(FILLED, added=done.kept)
    if taking.campaign and done.kept:
        record(taking.campaign, "items imported", by=by, items=("", done.kept))
    if taking.campaign and first is not None:
        # Set the primary comparison again, because its configurations may not have existed in the first slice.
        name_primary(taking.campaign, first)
    if taking.campaign:
        _make_checks(taking.campaign)
    return done


@transaction.atomic
def _make_checks(campaign: Campaign) -> None:
    """Create halo checks for items that were imported into an open campaign."""
    locked = Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
    if locked.state not in (Campaign.State.SETUP, Campaign.State.CLOSED):
        make_halos(locked)


class _Row(NamedTuple):
    line: int
    case: CaseRow
    item: ItemRow
    case_sha256: str
    item_sha256: str
    case_words: CaseWords
    item_words: ItemWords


class _ItemImport:
    """Reads and prepares the slices of an import of items."""

    def __init__(
        self, to: Campaign | str, columns: Columns, *, by: User | None, scored: Collection[str]
    ) -> None:
        self._name, self._by = str(to), by
        self.campaign = find_campaign(to) if isinstance(to, str) else to
        # The rules of a campaign that this import creates.
        self.rules = Rules()
        self.first: Record | None = None
        if self.campaign:
            check_takes_imports(self.campaign)
        self._sorter = Sorter(
            columns,
            kinds=("item",),
            # Accept score columns, because scores in the same file are imported after the items.
            ours=frozenset({*ITEM_COLUMNS, *SCORE_COLUMNS, *scored}),
            habits=ITEM_HABITS,
        )
        self._configurations = Configurations(by=by)
        self._is_export = False

    def read(self, records: Sequence[Record], outcome: Outcome) -> list[_Row]:
        """Return the valid rows of a slice, and record the rejected rows in `outcome`."""
        rows = []
        for one, values, _kind in self._sorter.sort(records, outcome):
            self._is_export = self._is_export or OWN in values
            try:
                case, item = read_item(values)
                for expert in item.experts:
                    check_person(expert.author)
            except RowProblem as problem:
                outcome.refuse(
                    one.line,
                    str(problem),
                    external_id=str(values.get("id") or values.get("statement") or "")[:60],
                    column=problem.column,
                )
                continue
            if case.purpose in AGAIN and not case.repeats:
                outcome.remark(one.line, _ALONE, column="repeats")
            hashes = content_of(case, item)
            words = word_case(case, hashes[0]), word_item(item, hashes[1])
            rows.append(_Row(one.line, case, item, *hashes, *words))
        return rows

    def take(self, rows: Sequence[_Row], outcome: Outcome) -> Write:
        """Prepare a slice and return a function that writes it. Call both functions in the same transaction."""
        if not rows:
            return nothing_to_write
        campaign, is_new = self.campaign, False
        if campaign is None:
            campaign, is_new = find_or_create_campaign(self._name, by=self._by, rules=self.rules)
        if is_new:
            # Only the first slice sets the plan, because a resumed import finds an existing campaign.
            keep_plan(campaign, self.first)
        hold_items(campaign)
        store = self._take_plain([row for row in rows if not row.case.repeats], campaign, outcome)
        again = [
            AgainRow(row.line, row.case, row.item, row.case_sha256)
            for row in rows
            if row.case.repeats
        ]

        def write() -> None:
            store.write()
            if again:
                take_again(again, campaign, outcome, configurations=self._configurations)
            if is_new:
                name_primary(campaign, self.first)
                keep_choice(campaign, self.first)
            self.campaign = campaign

        return write

    def _take_plain(self, rows: Sequence[_Row], campaign: Campaign, outcome: Outcome) -> ItemStore:
        known = read_known(campaign, {row.case.external_id for row in rows})
        experts = [expert.author for row in rows for expert in row.item.experts]
        people = people_of(experts, by=self._by, is_exact=self._is_export) if experts else {}
        store = ItemStore(campaign, size=len(rows), by=self._by, people=people)
        for row in rows:
            self._take_row(row, known, store, outcome)
        return store

    def _take_row(self, row: _Row, known: Known, store: ItemStore, outcome: Outcome) -> None:
        try:
            changed = self._keep(row, known, store)
        except RowProblem as problem:
            outcome.refuse(
                row.line, str(problem), external_id=row.case.external_id, column=problem.column
            )
            return
        outcome.kept += changed
        outcome.unchanged += not changed
        if changed and row.item.refined and not row.item.feedback:
            outcome.remark(
                row.line,
                "the refined script has no feedback; imported without feedback",
                column="feedback",
            )

    def _keep(self, row: _Row, known: Known, store: ItemStore) -> bool:
        """Queue the row's data for writing, and return whether the row is new. Raises RowProblem."""
        name, item = row.case.external_id, row.item
        case_is_new = known.is_new_case(name, row.case_sha256)
        configuration = self._configurations.of(item.configuration) if item.has_result else None
        if configuration and not known.is_new_item(name, configuration.id, row.item_sha256):
            return False
        if case_is_new:
            known.cases[name] = store.add_case(row.case_words, row.case_sha256)
        if configuration:
            known.items[name, configuration.id] = row.item_sha256
            store.add_item(
                (name, row.case.purpose),
                item,
                row.item_words,
                case=known.cases[name],
                to=configuration,
            )
        return case_is_new or configuration is not None
