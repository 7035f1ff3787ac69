"""Cases and items of one slice on their way into the tables, and what is there already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model
from django.utils import timezone

from catalog.models import Version
from pipeline.models import Action, Assessment, Configuration, Draft, Feedback, Refinement, Run
from pipeline.types import Arm, DraftKind
from review import studies
from review.judging import MADE
from review.models import Campaign, Case, Item, TallyDue
from review.transfers.copying import Table, next_keys
from review.transfers.item_rows import RETRIEVED, CaseRow, Expert, ItemRow
from review.transfers.values import RowProblem

# Looked up once and not for every row.
_FAILED, _DONE = Run.State.FAILED.value, Run.State.DONE.value
_REPAIRED, _IMPORTED = DraftKind.REPAIRED.value, DraftKind.IMPORTED.value
_REFINED, _MODEL, _EXPERT = DraftKind.REFINED.value, Arm.MODEL.value, Arm.EXPERT.value
_CLOSED, _WITHDRAWN = Item.State.CLOSED.value, Item.State.WITHDRAWN.value
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

    def is_new_case(self, external_id: str, sha256: str) -> bool:
        """Whether the case is new. Raises RowProblem where its id says something else."""
        there = self.cases.get(external_id)
        if there is None:
            return True
        if there.sha256 != sha256:
            raise RowProblem("this id is there with another statement or context", column="id")
        return False

    def note_case(self, external_id: str, sha256: str) -> None:
        """From now on the case is there; nobody asks for its key."""
        self.cases[external_id] = KnownCase(0, 0, sha256)

    def is_new_item(self, external_id: str, configuration: int, sha256: str) -> bool:
        """Whether the item is new. Raises RowProblem where other content stands in its place."""
        there = self.items.get((external_id, configuration))
        if there is None:
            return True
        if there != sha256:
            raise RowProblem(
                "this id is there with another script, feedback or verdict", column="id"
            )
        return False


def read_known(campaign: Campaign, ids: Iterable[str]) -> Known:
    """What the campaign has of these ids."""
    known, names = Known(), {}
    # As one array: some thousand parameters take longer than their rows.
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT id, action_id, external_id, content_sha256 FROM review_case
            WHERE campaign_id = %s AND external_id IN (SELECT json_array_elements_text(%s))
            """,
            [campaign.pk, json.dumps(list(ids))],
        )
        for key, action, name, sha256 in cursor.fetchall():
            known.cases[name] = KnownCase(key, action, sha256)
            names[key] = name
        if not names:
            return known
        cursor.execute(
            """
            SELECT item.case_id, item.configuration_id, coalesce(run.spec ->> %s, '')
            FROM review_item item LEFT JOIN pipeline_run run ON run.id = item.run_id
            WHERE item.case_id = ANY(%s)
            """,
            [CONTENT, list(names)],
        )
        for case, configuration, sha256 in cursor.fetchall():
            known.items[names[case], configuration] = sha256
    return known


def ready_state(campaign: Campaign) -> str:
    """The state of an item that waits for reviewers: in a pilot it is held back."""
    is_pilot = campaign.state == Campaign.State.PILOT
    return Item.State.HELD.value if is_pilot else Item.State.OPEN.value


class ItemStore:
    """Gathers the rows of a slice of so many records, and writes them at once."""

    def __init__(
        self,
        campaign: Campaign,
        *,
        size: int,
        by: User | None,
        people: Mapping[str, User] | None = None,
    ) -> None:
        self._campaign, self._size, self._by = campaign, size, by
        self._people = people or {}
        self._ready = ready_state(campaign)
        self._keys: dict[type[Model], list[int]] = {}
        self._rows: dict[type[Model], list[tuple[object, ...]]] = {
            model: []
            for model in (
                *(Action, Case, Run, Draft, Feedback, Refinement, Assessment, Item),
                TallyDue,
            )
        }

    def add_case(self, case: CaseRow, sha256: str) -> KnownCase:
        """Note a case to be written; the hash is that of its content."""
        known = KnownCase(self._key(Case), self._key(Action), sha256)
        statement_sha256 = hashlib.sha256(case.statement.encode()).hexdigest()
        self._rows[Action].append((known.action, statement_sha256, *case[1:8]))
        answers = json.dumps(case.known) if case.known else "{}"
        self._rows[Case].append(
            (known.key, case.external_id, known.action, case.purpose, answers, sha256)
        )
        return known

    def add_item(
        self,
        row: tuple[str, str],
        item: ItemRow,
        *,
        case: KnownCase,
        to: Configuration,
        sha256: str,
    ) -> int:
        """Note an item with its run to be written, under an id and a purpose; returns its key."""
        external_id, purpose = row
        run, key = self._key(Run), self._key(Item)
        first, refined = self._add_texts(run, item) if item.script else (None, None)
        # What the product would have recommended is not known of scripts made elsewhere.
        recommended = {"first": first, "refined": refined}.get(item.recommended)
        state = _FAILED if item.made == "failed" else _DONE
        made = f', "{MADE}": "{RETRIEVED}"' if item.made == RETRIEVED else ""
        spec = f'{{"configuration": {json.dumps(to.name)}, "{CONTENT}": "{sha256}"{made}}}'
        self._rows[Run].append(
            (run, case.action, to.pk, state, spec, item.demo, item.verdict, recommended)
        )
        shuffle = studies.shuffle_of(self._campaign, f"{external_id}:{to.name}")
        overlap = item.overlap or studies.overlap_of(
            self._campaign, shuffle=shuffle, purpose=purpose
        )
        self._rows[Item].append(
            (
                *(key, case.key, to.pk, run, self._state(item), overlap),
                overlap if item.script and not item.withdrawn else 0,
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
            Refinement: Table(Refinement, _REFINEMENT, state=Refinement.State.DONE, ended_at=now),
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
        kind = _REPAIRED if item.made == "repaired" else _IMPORTED
        self._rows[Draft].append(
            (first, run, 1, kind, item.script, sha256, 0, None, None, _MODEL, None)
        )
        if item.verdict:
            self._rows[Assessment].append((self._key(Assessment), first, sha256, item.verdict))
        refined = None
        if item.feedback or item.refined:
            feedback = self._add_feedback(first, item.feedback, is_none=item.no_error_found)
            if item.refined:
                refined = self._add_refined(run, 2, item.refined, (first, feedback, _MODEL, None))
        for number, expert in enumerate(item.experts, start=3):
            self._add_expert(run, number, first, expert)
        return first, refined

    def _add_expert(self, run: int, number: int, first: int, expert: Expert) -> None:
        author = self._people[expert.author].pk
        feedback = self._add_feedback(first, expert.feedback, author=author)
        if expert.refined:
            refinement = self._key(Refinement)
            self._rows[Refinement].append((refinement, run, first, feedback, author))
            self._add_refined(run, number, expert.refined, (first, feedback, _EXPERT, refinement))

    def _add_feedback(
        self, draft: int, text: str, *, author: int | None = None, is_none: bool = False
    ) -> int:
        key, points = self._key(Feedback), sum(1 for line in text.splitlines() if line.strip())
        arm = _EXPERT if author else _MODEL
        self._rows[Feedback].append(
            (key, draft, text, is_none, len(text.split()), points, arm, author)
        )
        return key

    def _add_refined(
        self, run: int, number: int, script: str, made_from: tuple[int, int, str, int | None]
    ) -> int:
        key, sha256 = self._key(Draft), Version.hash_of(script)
        self._rows[Draft].append((key, run, number, _REFINED, script, sha256, 1, *made_from))
        return key

    def _state(self, item: ItemRow) -> str:
        # Where there is no text, there is nothing to review: only labels, given elsewhere.
        if item.withdrawn:
            return _WITHDRAWN
        return _CLOSED if item.closed or not item.script else self._ready

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
    *("arm", "refinement_id"),
)
_FEEDBACK = (
    *("id", "draft_id", "text", "no_error_found", "words", "points"),
    *("arm", "author_id"),
)
_REFINEMENT = ("id", "run_id", "draft_id", "feedback_id", "asked_by_id")
_ASSESSMENT = ("id", "draft_id", "script_sha256", "verdict")
_ITEM = (
    *("id", "case_id", "configuration_id", "run_id", "state", "overlap", "places", "shuffle"),
    *("sham", "execution", "execution_reason"),
)
