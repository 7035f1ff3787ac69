"""Cases and items of one slice on their way into the tables, and what is there already."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Model
from django.utils import timezone

from catalog.models import Version
from pipeline.models import Action, Assessment, Configuration, Draft, Feedback, Run
from pipeline.types import DraftKind
from review import studies
from review.models import Campaign, Case, Item, TallyDue
from review.transfers.copying import Table, next_keys
from review.transfers.item_rows import CaseRow, ItemRow
from review.transfers.values import RowProblem

# Where a run keeps the hash of what it was imported from.
CONTENT = "content_sha256"


class KnownCase(NamedTuple):
    """A case that is there, or about to be; the hash is empty where it was not imported."""

    key: int
    action: int
    sha256: str


@dataclass
class Known:
    """Cases by the importer's id; and of each with a configuration, the hash of the item's content."""

    cases: dict[str, KnownCase] = field(default_factory=dict)
    items: dict[tuple[str, int], str] = field(default_factory=dict)

    def is_new_case(self, case: CaseRow) -> bool:
        """Whether the case is new. Raises RowProblem where its id says something else."""
        there = self.cases.get(case.external_id)
        if there is None:
            return True
        if there.sha256 != case.sha256:
            raise RowProblem("this id is there with another statement or context", column="id")
        return False

    def is_new_item(self, external_id: str, configuration: int, item: ItemRow) -> bool:
        """Whether the item is new. Raises RowProblem where other content stands in its place."""
        there = self.items.get((external_id, configuration))
        if there is None:
            return True
        if there != item.sha256:
            raise RowProblem(
                "this id is there with another script, feedback or verdict", column="id"
            )
        return False


def read_known(campaign: Campaign, ids: Sequence[str]) -> Known:
    """What the campaign has of these ids."""
    known, names = Known(), {}
    cases = campaign.cases.filter(external_id__in=set(ids)).order_by()
    for key, action, name, sha256 in cases.values_list(
        "pk", "action", "external_id", "content_sha256"
    ):
        known.cases[name] = KnownCase(key, action, sha256)
        names[key] = name
    items = Item.objects.filter(case__in=names).order_by()
    for case, configuration, sha256 in items.values_list(
        "case", "configuration", f"run__spec__{CONTENT}"
    ):
        known.items[names[case], configuration] = sha256 or ""
    return known


class ItemStore:
    """Gathers the rows of a slice of so many records, and writes them at once."""

    def __init__(self, campaign: Campaign, *, size: int, by: User | None) -> None:
        self._campaign, self._size, self._by = campaign, size, by
        self._is_pilot = campaign.state == Campaign.State.PILOT
        self._keys: dict[type[Model], list[int]] = {}
        self._rows: dict[type[Model], list[tuple[object, ...]]] = {
            model: [] for model in (Action, Case, Run, Draft, Feedback, Assessment, Item, TallyDue)
        }

    def add_case(self, case: CaseRow) -> KnownCase:
        """Note a case to be written."""
        known = KnownCase(self._key(Case), self._key(Action), case.sha256)
        statement_sha256 = hashlib.sha256(case.statement.encode()).hexdigest()
        self._rows[Action].append((known.action, statement_sha256, *case[1:8]))
        self._rows[Case].append(
            (known.key, case.external_id, known.action, case.purpose, case.known, known.sha256)
        )
        return known

    def add_item(
        self, external_id: str, purpose: str, *, case: KnownCase, to: Configuration, item: ItemRow
    ) -> int:
        """Note an item with its run to be written; returns its key."""
        run, key = self._key(Run), self._key(Item)
        first, refined = self._add_texts(run, item) if item.script else (None, None)
        # What the product would have recommended is not known of scripts made elsewhere.
        recommended = {"first": first, "refined": refined}.get(item.recommended)
        state = Run.State.FAILED if item.made == "failed" else Run.State.DONE
        spec = {"configuration": to.name, CONTENT: item.sha256}
        self._rows[Run].append(
            (run, case.action, to.pk, state.value, spec, item.demo, item.verdict, recommended)
        )
        shuffle = studies.shuffle_of(self._campaign, f"{external_id}:{to.name}")
        overlap = item.overlap or studies.overlap_of(
            self._campaign, shuffle=shuffle, purpose=purpose
        )
        self._rows[Item].append(
            (
                *(key, case.key, to.pk, run, self._state(item), overlap),
                overlap if item.script else 0,
                *(shuffle, item.sham, item.execution, item.execution_reason),
            )
        )
        self._rows[TallyDue].append((key,))
        return key

    def write(self) -> None:
        """Write all that was noted."""
        now, by = timezone.now(), self._by.pk if self._by else None
        tables = {
            Action: Table(Action, _ACTION, source=Action.Source.IMPORTED, asked_by_id=by),
            Case: Table(Case, _CASE, campaign_id=self._campaign.pk),
            Run: Table(
                Run,
                _RUN,
                origin=Run.Origin.IMPORTED.value,
                uses_retrieval=False,
                asked_by_id=by,
                finished_at=now,
            ),
            Draft: Table(Draft, _DRAFT),
            Feedback: Table(Feedback, _FEEDBACK, round=1),
            Assessment: Table(Assessment, _ASSESSMENT),
            Item: Table(Item, _ITEM, campaign_id=self._campaign.pk),
        }
        for model, table in tables.items():
            table.copy(self._rows[model])
        Table(TallyDue, ("item_id",), without_key=True, campaign_id=self._campaign.pk).copy(
            self._rows[TallyDue]
        )

    def _add_texts(self, run: int, item: ItemRow) -> tuple[int, int | None]:
        """The Drafts with what is said of them; keys of the first and of the refined one."""
        first, sha256 = self._key(Draft), Version.hash_of(item.script)
        kind = DraftKind.REPAIRED if item.made == "repaired" else DraftKind.IMPORTED
        self._rows[Draft].append((first, run, 1, kind.value, item.script, sha256, 0, None, None))
        if item.verdict:
            self._rows[Assessment].append((self._key(Assessment), first, sha256, item.verdict))
        if not (item.feedback or item.refined):
            return first, None
        feedback = self._key(Feedback)
        words = len(item.feedback.split())
        points = sum(1 for line in item.feedback.splitlines() if line.strip())
        self._rows[Feedback].append(
            (feedback, first, item.feedback, item.no_error_found, words, points)
        )
        if not item.refined:
            return first, None
        refined, sha256 = self._key(Draft), Version.hash_of(item.refined)
        self._rows[Draft].append(
            (refined, run, 2, DraftKind.REFINED.value, item.refined, sha256, 1, first, feedback)
        )
        return first, refined

    def _state(self, item: ItemRow) -> str:
        # Where there is no text, there is nothing to review: only labels, given elsewhere.
        if item.closed or not item.script:
            return Item.State.CLOSED.value
        return Item.State.HELD.value if self._is_pilot else Item.State.OPEN.value

    def _key(self, model: type[Model]) -> int:
        keys = self._keys.get(model)
        if not keys:
            keys = self._keys[model] = next_keys(model, self._size)[::-1]
        return keys.pop()


_ACTION = (
    *("id", "statement_sha256", "statement", "incident", "environment", "reference"),
    *("severity", "target", "impact"),
)
_CASE = ("id", "external_id", "action_id", "purpose", "known", "content_sha256")
_RUN = (
    *("id", "action_id", "configuration_id", "state", "spec", "demo", "verdict"),
    "recommended_id",
)
_DRAFT = (
    *("id", "run_id", "number", "kind", "script", "sha256", "round", "parent_id", "feedback_id"),
)
_FEEDBACK = ("id", "draft_id", "text", "no_error_found", "words", "points")
_ASSESSMENT = ("id", "draft_id", "script_sha256", "verdict")
_ITEM = (
    *("id", "case_id", "configuration_id", "run_id", "state", "overlap", "places", "shuffle"),
    *("sham", "execution", "execution_reason"),
)
