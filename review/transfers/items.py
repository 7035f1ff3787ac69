"""Items in from a file: what is asked, and scripts, feedback and verdicts that were made elsewhere.

A row with a result becomes a finished Run of origin *imported*, which no model was called for; a row without
one is a Case that waits for *start*. Scripts are checked statically later, when somebody looks: ShellCheck
takes longer than everything else here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib.auth.models import User

from catalog.audit import record
from review import studies
from review.models import Campaign
from review.transfers.campaigns import (
    Configurations,
    check_person,
    check_takes_imports,
    find_campaign,
    hold_imports,
    people_of,
    require_manager,
)
from review.transfers.columns import ITEM_COLUMNS, ITEM_HABITS, Columns
from review.transfers.files import Source
from review.transfers.item_rows import CaseRow, ItemRow, read_item
from review.transfers.records import Record
from review.transfers.running import Counts, Journal, Outcome, Quiet, run_import
from review.transfers.sorting import Sorter
from review.transfers.storing import ItemStore, Known, read_known
from review.transfers.values import RowProblem


def import_items(
    source: Source,
    to: Campaign | str,
    *,
    by: User | None,
    columns: Columns | None = None,
    journal: Journal | None = None,
    counts: Counts | None = None,
) -> Counts:
    """Import items into a campaign; one that is only named is made with the first good row where there is none.

    Safe to repeat: the same id with the same content is unchanged, with other content it is refused. Raises
    UnreadableFile, PermissionDenied, NotAllowedNow, and BadInput for a name that no campaign can have.
    """
    require_manager(by)
    taking = _ItemImport(to, columns or Columns(), by=by)
    done = run_import(source, taking.read, taking.take, journal=journal or Quiet(), counts=counts)
    if taking.campaign and done.kept:
        record(taking.campaign, "items imported", by=by, items=("", done.kept))
    return done


class _Row(NamedTuple):
    line: int
    case: CaseRow
    item: ItemRow
    case_sha256: str
    item_sha256: str


class _ItemImport:
    """What one import remembers from slice to slice."""

    def __init__(self, to: Campaign | str, columns: Columns, *, by: User | None) -> None:
        self._name, self._by = str(to), by
        self.campaign = find_campaign(to) if isinstance(to, str) else to
        if self.campaign:
            check_takes_imports(self.campaign)
        self._sorter = Sorter(
            columns, kinds=("item",), ours=frozenset(ITEM_COLUMNS), habits=ITEM_HABITS
        )
        self._configurations = Configurations(by=by)

    def read(self, records: Sequence[Record], outcome: Outcome) -> list[_Row]:
        """The good rows of one slice; the others are refused."""
        rows = []
        for one, values, _kind in self._sorter.sort(records, outcome):
            try:
                case, item = read_item(values)
                for expert in item.experts:
                    check_person(expert.author)
            except RowProblem as problem:
                outcome.refuse(
                    one.line,
                    str(problem),
                    external_id=str(values.get("id") or "")[:200],
                    column=problem.column,
                )
            else:
                rows.append(_Row(one.line, case, item, case.sha256, item.sha256))
        return rows

    def take(self, rows: Sequence[_Row], outcome: Outcome) -> None:
        """Write one slice, inside a transaction."""
        if not rows:
            return
        campaign = self.campaign or studies.create_campaign(self._name, by=self._by)
        hold_imports(campaign)
        known = read_known(campaign, {row.case.external_id for row in rows})
        experts = {expert.author for row in rows for expert in row.item.experts}
        people = people_of(experts, by=self._by) if experts else {}
        store = ItemStore(campaign, size=len(rows), by=self._by, people=people)
        for row in rows:
            self._take_row(row, known, store, outcome)
        store.write()
        self.campaign = campaign

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
                "there is a refined script, and no feedback that it was made from: kept without",
                column="feedback",
            )

    def _keep(self, row: _Row, known: Known, store: ItemStore) -> bool:
        """Note the row to be stored; False where all of it is there. Raises RowProblem."""
        name, item = row.case.external_id, row.item
        case_is_new = known.is_new_case(name, row.case_sha256)
        configuration = self._configurations.of(item.configuration) if item.has_result else None
        if configuration and not known.is_new_item(name, configuration.pk, row.item_sha256):
            return False
        if case_is_new:
            known.cases[name] = store.add_case(row.case, row.case_sha256)
        if configuration:
            known.items[name, configuration.pk] = row.item_sha256
            store.add_item(
                (name, row.case.purpose),
                item,
                case=known.cases[name],
                to=configuration,
                sha256=row.item_sha256,
            )
        return case_is_new or configuration is not None
