"""Read existing cases and items from the database, and write a slice's new cases and items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model
from django.utils import timezone

from core.database.bulk_copy import Table, next_keys, put
from pipeline.models import Action, Assessment, Configuration, Draft, Feedback, Refinement, Run
from pipeline.types import Arm
from review.counting.tallies import note_due
from review.exchange.importing import copy_rows
from review.exchange.importing.copy_rows import (
    CONTENT,
    OTHER,
    CaseWords,
    ItemWords,
    word_feedback,
    word_refined,
)
from review.exchange.rows.item_rows import Expert, ItemRow
from review.exchange.rows.values import RowProblem
from review.models import Campaign, Case, Item
from review.sampling import overlap_of, shuffle_of

# Look up these values once instead of for every row.
_EXPERT = Arm.EXPERT.value
_CLOSED, _WITHDRAWN = Item.State.CLOSED.value, Item.State.WITHDRAWN.value
# The tables that importing items fills.
FILLED = (Action, Case, Run, Draft, Feedback, Refinement, Assessment, Item)


class KnownCase(NamedTuple):
    """A case that exists or will be written. `sha256` is empty if the case was not imported."""

    key: int
    action: int
    sha256: str


@dataclass
class Known:
    """Cases by imported ID, and each item's content hash by ID and configuration."""

    cases: dict[str, KnownCase] = field(default_factory=dict)
    items: dict[tuple[str, int], str] = field(default_factory=dict)

    def is_new_case(self, external_id: str, sha256: str) -> bool:
        """Return whether the case is new. Raises RowProblem if its ID exists with different content."""
        there = self.cases.get(external_id)
        if there is None:
            return True
        if there.sha256 != sha256:
            raise RowProblem(
                "this id already exists with another statement or context", column="id"
            )
        return False

    def note_case(self, external_id: str, sha256: str) -> None:
        """Record the case as existing, without its primary key, which is not needed."""
        self.cases[external_id] = KnownCase(0, 0, sha256)

    def is_new_item(self, external_id: str, configuration: int, sha256: str) -> bool:
        """Return whether the item is new. Raises RowProblem if the item exists with different content."""
        there = self.items.get((external_id, configuration))
        if there is None:
            return True
        if there != sha256:
            raise RowProblem(
                "this id already exists with another script, feedback or verdict", column="id"
            )
        return False


def read_known(campaign: Campaign, ids: Iterable[str]) -> Known:
    """Return the campaign's existing cases and items with these IDs."""
    known, names = Known(), {}
    # Pass the IDs as one parameter, because thousands of parameters take longer than reading the rows.
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
    """Return the state of an item that is ready for review, which is `held` during a pilot."""
    is_pilot = campaign.state == Campaign.State.PILOT
    return Item.State.HELD.value if is_pilot else Item.State.OPEN.value


class ItemStore:
    """Collects a slice's rows and writes them together."""

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
        self._keys: dict[type[Model], Iterator[int]] = {}
        self._specs: dict[int, str] = {}
        self._items: list[int] = []
        self._lines: dict[type[Model], list[str]] = {
            model: []
            for model in (Action, Case, Run, Draft, Feedback, Refinement, Assessment, Item)
        }

    def add_case(self, words: CaseWords, sha256: str) -> KnownCase:
        """Queue a case for writing. `sha256` is the hash of its content."""
        known = KnownCase(self._key(Case), self._key(Action), sha256)
        self._lines[Action].append(f"{known.action}\t{words.action}")
        self._lines[Case].append(f"{known.key}\t{known.action}\t{words.case}")
        return known

    def add_item(
        self,
        row: tuple[str, str],
        item: ItemRow,
        words: ItemWords,
        *,
        case: KnownCase,
        to: Configuration,
    ) -> int:
        """Queue an item and its run for writing, and return the item's primary key."""
        external_id, purpose = row
        run, key = self._key(Run), self._key(Item)
        first, refined = self._add_texts(run, item, words) if item.script else (None, None)
        # The recommendation is None for scripts from other systems.
        recommended = {"first": first, "refined": refined}.get(item.recommended)
        if refined and item.later:
            made_later = self._add_later(run, item, refined)
            recommended = made_later if item.recommended == OTHER else recommended
        # Use `id`, because `pk` is slower: Django looks up the field on each access.
        self._lines[Run].append(
            f"{run}\t{case.action}\t{to.id}\t{put(recommended)}"
            f"\t{self._spec_of(to)}{words.spec}\t{words.run}"
        )
        shuffle = shuffle_of(self._campaign, f"{external_id}:{to.name}")
        # Items that have only imported labels need no more reviewers.
        overlap = item.overlap or (
            overlap_of(self._campaign, shuffle=shuffle, purpose=purpose) if item.script else 1
        )
        places = overlap if item.script and not item.withdrawn else 0
        self._lines[Item].append(
            f"{key}\t{case.key}\t{to.id}\t{run}\t{self._state(item)}"
            f"\t{overlap}\t{places}\t{shuffle}\t{words.item}"
        )
        self._items.append(key)
        return key

    def write(self) -> None:
        """Write all queued rows to the database."""
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
            Feedback: Table(Feedback, _FEEDBACK),
            Refinement: Table(Refinement, _REFINEMENT, state=Refinement.State.DONE, ended_at=now),
            Assessment: Table(Assessment, _ASSESSMENT),
            Item: Table(Item, _ITEM, campaign_id=self._campaign.pk),
        }
        for model, table in tables.items():
            table.copy_lines(self._lines[model])
        if self._items:
            note_due(self._campaign, self._items)

    def _add_texts(self, run: int, item: ItemRow, words: ItemWords) -> tuple[int, int | None]:
        """Queue the Drafts with assessment and feedback, and return the keys of the first and the refined Draft."""
        first = self._key(Draft)
        self._lines[Draft].append(f"{first}\t{run}\t\\N\t\\N\t\\N\t{words.first}")
        if words.assessment:
            self._lines[Assessment].append(f"{self._key(Assessment)}\t{first}\t{words.assessment}")
        refined = None
        if words.feedback:
            feedback = self._add_feedback(first, words.feedback)
            if words.refined:
                refined = self._add_refined(run, words.refined, (first, feedback, None))
        for number, expert in enumerate(item.experts, start=3):
            self._add_expert(run, number, first, expert)
        return first, refined

    def _add_later(self, run: int, item: ItemRow, refined: int) -> int | None:
        """Queue later rounds, each with feedback and a Draft, and return the key of the recommended Draft, if any."""
        before, found = refined, None
        start = 3 + len(item.experts)
        for number, one in enumerate(item.later, start=start):
            feedback = None
            if one.feedback:
                words = word_feedback(one.feedback)
                feedback = self._add_feedback(before, words, round_=one.round)
            words = word_refined(number, one.refined, round_=one.round)
            before = self._add_refined(run, words, (before, feedback, None))
            found = before if one.is_recommended else found
        return found

    def _add_expert(self, run: int, number: int, first: int, expert: Expert) -> None:
        author = self._people[expert.author].pk
        words = word_feedback(expert.feedback, arm=_EXPERT)
        feedback = self._add_feedback(first, words, author=author)
        if expert.refined:
            refinement = self._key(Refinement)
            self._lines[Refinement].append(put(refinement, run, first, feedback, author))
            words = word_refined(number, expert.refined, arm=_EXPERT)
            self._add_refined(run, words, (first, feedback, refinement))

    def _add_feedback(
        self, draft: int, words: str, *, author: int | None = None, round_: int = 1
    ) -> int:
        key = self._key(Feedback)
        self._lines[Feedback].append(f"{put(key, draft, author, round_)}\t{words}")
        return key

    def _add_refined(
        self, run: int, words: str, made_from: tuple[int, int | None, int | None]
    ) -> int:
        key = self._key(Draft)
        self._lines[Draft].append(f"{put(key, run, *made_from)}\t{words}")
        return key

    def _spec_of(self, configuration: Configuration) -> str:
        """Return the beginning of a run's spec as JSON, with the configuration's name."""
        found = self._specs.get(configuration.id)
        if found is None:
            spec = put(f'{{"configuration": {json.dumps(configuration.name)}')
            found = self._specs[configuration.id] = spec
        return found

    def _state(self, item: ItemRow) -> str:
        # Close items without texts. They have nothing to review, only imported labels.
        if item.withdrawn:
            return _WITHDRAWN
        return _CLOSED if item.closed or not item.script else self._ready

    def _key(self, model: type[Model]) -> int:
        try:
            return next(self._keys[model])
        except (KeyError, StopIteration):
            keys = self._keys[model] = iter(next_keys(model, self._size))
            return next(keys)


_ACTION = ("id", *copy_rows.ACTION)
_CASE = ("id", "action_id", *copy_rows.CASE)
_RUN = ("id", "action_id", "configuration_id", "recommended_id", "spec", *copy_rows.RUN)
_DRAFT = ("id", "run_id", "parent_id", "feedback_id", "refinement_id", *copy_rows.DRAFT)
_FEEDBACK = ("id", "draft_id", "author_id", "round", *copy_rows.FEEDBACK)
_REFINEMENT = ("id", "run_id", "draft_id", "feedback_id", "asked_by_id")
_ASSESSMENT = ("id", "draft_id", *copy_rows.ASSESSMENT)
_ITEM = (
    *("id", "case_id", "configuration_id", "run_id", "state", "overlap", "places", "shuffle"),
    *copy_rows.ITEM,
)
