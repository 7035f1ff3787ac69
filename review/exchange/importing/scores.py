"""Import scores from other systems, in any stage order.

An empty value means that the stage was not scored, and adds no row. A row whose `record` is `adjudication` contains a
stage's final score, its adjudicator, and the reason as a comment. In files with a column per reviewer, map the column
of final scores with `adjudicated:NAME=column`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from core.audit import record
from core.database.statistics import MANY, refresh_statistics
from core.errors import BadInput
from core.files.records import Record
from review.campaigns.services.rules import hold_items
from review.counting.facts import same_texts
from review.exchange.importing.campaigns import (
    check_person,
    check_takes_imports,
    find_campaign,
    people_of,
    require_manager,
)
from review.exchange.importing.evidence import EvidenceImport, EvidenceRow
from review.exchange.importing.importer import (
    Counts,
    Journal,
    Outcome,
    Quiet,
    Write,
    nothing_to_write,
    run_import,
)
from review.exchange.importing.item_lookup import Places
from review.exchange.importing.known_scores import KnownScores, read_known_scores
from review.exchange.importing.rubrics import read_rubrics, take_rubrics
from review.exchange.importing.score_writer import ScoreStore
from review.exchange.rows.columns import (
    ITEM_COLUMNS,
    SCORE_COLUMNS,
    SCORE_HABITS,
    Columns,
    say_paths,
)
from review.exchange.rows.evidence_rows import KINDS as EVIDENCE
from review.exchange.rows.evidence_rows import LabelRow, RevisionRow, read_evidence
from review.exchange.rows.score_rows import GivenRow, read_scores
from review.exchange.rows.triage import Sorter
from review.exchange.rows.values import RowProblem
from review.exchange.source import OWN, Source
from review.models import Assignment, Campaign, Score

KINDS = ("score", "adjudication", "skip", "remark", "flag", *EVIDENCE)


def import_scores(
    source: Source,
    to: Campaign | str,
    *,
    by: User | None,
    columns: Columns | None = None,
    journal: Journal | None = None,
    counts: Counts | None = None,
) -> Counts:
    """Import scores into a campaign, and return the counts of rows.

    Repeating an import is safe: a known score is skipped, and a row that contradicts a known score is rejected. Raises
    UnreadableFile, PermissionDenied, NotAllowedNow, and BadInput if the campaign does not exist or no row has a score.
    """
    require_manager(by)
    campaign = find_campaign(to) if isinstance(to, str) else to
    if campaign is None:
        raise BadInput(_("No study named “%s” exists.") % to, field="campaign")
    check_takes_imports(campaign)
    taking = _ScoreImport(campaign, columns or Columns(), by=by)
    taking.rubrics = take_rubrics(campaign, read_rubrics(source.first()), by=by)
    done = run_import(source, taking.read, taking.take, journal=journal or Quiet(), counts=counts)
    if taking.is_empty and 0 < done.rows == done.unchanged and not taking.has_wide:
        hint = taking.paths or _(". Map its column, for example: script=rating.")
        raise BadInput(_("No row has a score") + hint, field="mapping")
    if done.kept > MANY:
        refresh_statistics((Assignment, Score), added=done.kept)
    if done.kept:
        record(campaign, "scores imported", by=by, scores=("", done.kept))
    return done


class _Row(NamedTuple):
    """A row of the file with its entries. `item` is the primary key of the row's item."""

    line: int
    name: str
    given: list[GivenRow]
    item: int = 0


def _adjudicates(row: _Row) -> bool:
    return any(one.adjudicates for one in row.given)


class _ScoreImport:
    """Reads and prepares the slices of an import of scores."""

    def __init__(self, campaign: Campaign, columns: Columns, *, by: User | None) -> None:
        self._campaign, self._columns, self._by = campaign, columns, by
        # Maps the file's rubric versions to ours with the same text.
        self.rubrics: Mapping[int, int] = {}
        self._checked: set[str] = set()
        self._same: set[str] = set()  # spellings of names that the report already lists
        self._is_export = False
        self.is_empty, self.has_wide = True, bool(columns.wide)
        self.paths = ""  # possible paths of the scores in nested records
        self._evidence = EvidenceImport(campaign, by=by)
        self._sorter = Sorter(
            columns,
            kinds=KINDS,
            ours=frozenset({*SCORE_COLUMNS, *ITEM_COLUMNS}),
            habits=SCORE_HABITS,
        )

    def read(self, records: Sequence[Record], outcome: Outcome) -> list[_Row | EvidenceRow]:
        """Return the valid rows of a slice, and record the rejected rows in `outcome`."""
        rows: list[_Row | EvidenceRow] = []
        for one, values, kind in self._sorter.sort(records, outcome):
            name = str(values.get("item") or values.get("statement") or "")
            self._is_export = self._is_export or OWN in values
            try:
                if kind in EVIDENCE:
                    self.is_empty = False
                    rows.append(self._read_evidence(one.line, values, kind))
                    continue
                given = read_scores(values, line=one.line, columns=self._columns, kind=kind)
                for name_of_person in {name for score in given for name in score.names}:
                    self._check_person(name_of_person)
            except RowProblem as problem:
                outcome.refuse(one.line, str(problem), external_id=name, column=problem.column)
            else:
                # In a file without IDs, the row's statement identifies the item.
                self.is_empty = self.is_empty and not given
                if self.is_empty and not self.paths:
                    self.paths = say_paths(values, "script", like="value")
                rows.append(_Row(one.line, given[0].item if given else name.strip(), given))
        return rows

    def _read_evidence(self, line: int, values: dict[str, object], kind: str) -> EvidenceRow:
        said = read_evidence(values, kind)
        if isinstance(said, (RevisionRow, LabelRow)):
            self._check_person(said.person)
        return EvidenceRow(line, said)

    def _check_person(self, name: str) -> None:
        if name not in self._checked:
            check_person(name)
            self._checked.add(name)

    def take(self, read: list[_Row | EvidenceRow], outcome: Outcome) -> Write:
        """Prepare a slice and return a function that writes it. Call both functions in the same transaction."""
        if not read:
            return nothing_to_write
        hold_items(self._campaign)
        self._evidence.take([one for one in read if isinstance(one, EvidenceRow)], outcome)
        rows = self._place([one for one in read if isinstance(one, _Row)], outcome)
        if not rows:
            return nothing_to_write
        given = [one for row in rows for one in row.given]
        people = people_of(
            [name for one in given for name in one.names], by=self._by, is_exact=self._is_export
        )
        self._name_same(rows, people, outcome)
        known = read_known_scores(
            {row.item for row in rows},
            with_words=any(one.remark or one.flag for one in given),
            same_text=same_texts({row.item for row in rows if _adjudicates(row)}),
        )
        keys = {name: user.pk for name, user in people.items()}
        store = ScoreStore(
            self._campaign, known, people=keys, rubrics=self.rubrics, size=len(given)
        )
        for row in rows:
            self._give(row, keys, known, store, outcome)
        return store.write

    def _name_same(self, rows: list[_Row], people: dict[str, User], outcome: Outcome) -> None:
        """Report, once per name, that the import treats a name as another spelling of a reviewer's name."""
        other = {name for name, user in people.items() if user.username != name} - self._same
        for row in rows if other else ():
            for name in {name for one in row.given for name in one.names} & other - self._same:
                self._same.add(name)
                said = f"“{name}” is imported as the reviewer “{people[name].username}”"
                outcome.remark(row.line, said, column="reviewer")

    def _place(self, rows: list[_Row], outcome: Outcome) -> list[_Row]:
        """Return the rows with their items, and reject rows whose item does not exist."""
        places = Places(self._campaign, {row.name for row in rows}, by=self._by)
        placed = []
        for row in rows:
            configuration = row.given[0].configuration if row.given else ""
            try:
                placed.append(
                    row._replace(item=places.find(row.name, configuration, is_said=bool(row.given)))
                )
            except RowProblem as problem:
                outcome.refuse(row.line, str(problem), external_id=row.name, column=problem.column)
        places.write()
        return placed

    def _give(
        self,
        row: _Row,
        people: dict[str, int],
        known: KnownScores,
        store: ScoreStore,
        outcome: Outcome,
    ) -> None:
        try:
            new = [one for one in row.given if known.is_new(row.item, people[one.person], one)]
        except RowProblem as problem:
            outcome.refuse(row.line, str(problem), external_id=row.name, column=problem.column)
            return
        for one in new:
            store.add(row.item, people[one.person], one)
        outcome.kept += bool(new)
        outcome.unchanged += not new
