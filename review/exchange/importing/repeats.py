"""Import repeats and halo checks, which show another item again.

A repeat or halo check gets the run of the original item and a case that refers to the original case. The `repeats`
column names the original case. A row without this column is imported as a normal item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from catalog.models import Version
from pipeline.models import Configuration, Draft
from pipeline.types import Arm, DraftKind
from review.exchange.importing.importer import Outcome
from review.exchange.importing.item_writer import Known, read_known, ready_state
from review.exchange.rows.item_rows import CaseRow, ItemRow
from review.exchange.rows.values import RowProblem
from review.models import Campaign, Case, Item
from review.queue.reviewer_checks.repeats import has_checks
from review.sampling import shuffle_of

_HALO = Item.Again.HALO.value


class AgainRow(NamedTuple):
    """A row that shows an item again. The hash covers all of its content."""

    line: int
    case: CaseRow
    item: ItemRow
    sha256: str


class FindsConfigurations(Protocol):
    """An object that finds configurations by name."""

    def find(self, name: str) -> Configuration | None:
        """Return the configuration with this name, or None."""


def take_again(
    rows: Sequence[AgainRow],
    campaign: Campaign,
    outcome: Outcome,
    *,
    configurations: FindsConfigurations,
) -> None:
    """Write the new items of these rows. The original items must exist. Call this function in a transaction."""
    known = read_known(campaign, {row.case.external_id for row in rows})
    shown = _Shown(campaign, {row.case.repeats for row in rows})
    made: list[Item] = []
    for row in rows:
        name, configuration = row.case.external_id, configurations.find(row.item.configuration)
        try:
            item = _make(row, campaign, known, shown.find(row, configuration), shown)
        except RowProblem as problem:
            outcome.refuse(row.line, str(problem), external_id=name, column=problem.column)
            continue
        if item is None:
            outcome.unchanged += 1
            continue
        known.note_case(name, row.sha256)
        made.append(item)
    Case.objects.bulk_create(item.case for item in made)
    Item.objects.bulk_create(made)
    outcome.kept += len(made)


def _make(
    row: AgainRow, campaign: Campaign, known: Known, original: Item, shown: _Shown
) -> Item | None:
    """Return the item to write, with its case, or None if the item already exists. Raises RowProblem."""
    if not known.is_new_case(row.case.external_id, row.sha256):
        return None
    shown.take(original, row)
    case = Case(
        campaign=campaign,
        external_id=row.case.external_id,
        action_id=original.case.action_id,
        purpose=row.case.purpose,
        repeats_id=original.case_id,
        known=row.case.known,
        content_sha256=row.sha256,
    )
    overlap = row.item.overlap or 1
    name = f"{row.case.external_id}:{row.item.configuration}"
    return Item(
        campaign=campaign,
        case=case,
        configuration_id=original.configuration_id,
        run_id=original.run_id,
        state=_state(row.item, campaign),
        overlap=overlap,
        places=0 if row.item.withdrawn else overlap,
        priority=original.priority,
        shuffle=shuffle_of(campaign, name),
        sham=row.item.sham,
        again=row.case.purpose,
        pilot=original.pilot,
    )


def _state(item: ItemRow, campaign: Campaign) -> str:
    if item.withdrawn:
        return Item.State.WITHDRAWN
    # Without consistency checks in the campaign, the queue would assign this item like a normal item.
    is_over = item.closed or not item.script or not has_checks(campaign)
    return Item.State.CLOSED if is_over else ready_state(campaign)


class _Shown:
    """The original items, by case and configuration, with their scripts and existing repeats."""

    def __init__(self, campaign: Campaign, names: Iterable[str]) -> None:
        items = campaign.items.filter(again="", case__external_id__in=names)
        self._items = {
            (item.case.external_id, item.configuration_id): item
            for item in items.select_related("case")
        }
        runs = [item.run_id for item in self._items.values()]
        self._scripts = _read_scripts(runs)
        taken = campaign.items.exclude(again="").filter(run__in=runs)
        self._taken = set(taken.values_list("run", "again"))

    def find(self, row: AgainRow, configuration: Configuration | None) -> Item:
        """Return the original item of the row. Raises RowProblem if the original item does not exist."""
        key = configuration.pk if configuration else 0
        item = self._items.get((row.case.repeats, key))
        if item is None or item.run_id is None:
            raise RowProblem(
                f"the repeated item {row.case.repeats!r} under"
                f" {row.item.configuration!r} does not exist; import it first",
                column="repeats",
            )
        return item

    def take(self, item: Item, row: AgainRow) -> None:
        """Record that the item is shown again.

        Raises RowProblem if the item already has this kind of check or the script differs.
        """
        run, purpose = item.run_id or 0, row.case.purpose
        if (run, purpose) in self._taken:
            raise RowProblem(f"{row.case.repeats!r} already has a {purpose}", column="repeats")
        scripts = self._scripts.get((run, purpose == _HALO), set())
        if row.item.script and Version.hash_of(row.item.script) not in scripts:
            which = "refined script" if purpose == _HALO else "script"
            raise RowProblem(f"this is not the {which} of {row.case.repeats!r}", column="script")
        self._taken.add((run, purpose))


def _read_scripts(runs: Sequence[int | None]) -> Mapping[tuple[int, bool], set[str]]:
    """Return the hashes of the models' scripts by (run, whether the script is refined)."""
    found: dict[tuple[int, bool], set[str]] = {}
    drafts = Draft.objects.filter(run__in=runs, arm=Arm.MODEL.value).order_by()
    for run, kind, sha256 in drafts.values_list("run", "kind", "sha256"):
        found.setdefault((run, kind == DraftKind.REFINED.value), set()).add(sha256)
    return found
