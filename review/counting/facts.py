"""Read items' scores by text, because a text that multiple arms of a case share is scored only once.

Such a score counts in every arm that has the text, regardless of the arm in which it was given. The same applies to
adjudications and to reviewers who can't judge the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.types import Arm
from review.counting.item_facts import (
    STAGES,
    ItemRow,
    Situation,
    Texts,
    read_rows,
    read_situations,
)
from review.counting.score_reader import (
    ScoreRow,
    Word,
    Work,
    add_up,
    fetch,
    passed_over,
    read_scores,
    read_words,
    read_work,
)
from review.models import Assignment, Item
from review.study import GivenScore, Judged, Stage

_CANNOT_JUDGE, _MODEL = Assignment.State.CANNOT_JUDGE.value, Arm.MODEL.value
_HOLDING = frozenset(state.value for state in Assignment.HOLDING)


def judge_items(items: Sequence[Item]) -> dict[int, Judged]:
    """Return the facts about each item that the figures need, by primary key."""
    facts = read_facts([item.pk for item in items])
    return {item.pk: facts.judge(item.pk) for item in items}


@dataclass
class Facts:
    """The scores and other facts about a set of items and the other arms of their cases.

    `groups` maps (case, stage, text hash) to the real items with that text, ordered by primary key.
    """

    rows: dict[int, ItemRow]
    situations: dict[int, Situation]
    texts: dict[int, Texts]
    groups: dict[tuple[int, Stage, str], list[int]]
    scores: dict[int, list[ScoreRow]]
    words: dict[int, dict[tuple[Stage, Arm], Word]]
    work: dict[int, list[Work]]

    def alike(self, key: int, stage: Stage) -> list[int]:
        """Return all items with the same text at this stage, including this item, ordered by primary key."""
        text = self.texts[key][STAGES.index(stage)]
        if not (text and self.situations[key].is_real):
            return [key]
        return self.groups[self.rows[key].case, stage, text]

    def _others_alike(self, key: int) -> set[int]:
        """Return the other items whose counts depend on this item's scores."""
        return {one for stage in STAGES for one in self.alike(key, stage)} - {key}

    def is_first(self, key: int, stage: Stage) -> bool:
        """Return whether no earlier item has the same text at this stage."""
        return self.alike(key, stage)[0] == key

    def scores_of(self, key: int) -> list[ScoreRow]:
        """Return the scores for the item's texts from all arms, in chronological order within each stage."""
        if not self._others_alike(key):
            return self.scores.get(key, [])
        found: list[ScoreRow] = []
        for stage in STAGES:
            own = [
                row
                for row in self.scores.get(key, ())
                if row.stage == stage and not _is_shared(row)
            ]
            pool = sorted(
                (row for one in self.alike(key, stage) for row in self._shared(one, stage)),
                key=lambda row: row.rank,
            )
            given = {row.reviewer for row in pool if not row.is_copied}
            found += own
            found += [row for row in pool if not row.is_copied or row.reviewer not in given]
        return found

    def _shared(self, key: int, stage: Stage) -> Iterable[ScoreRow]:
        return (row for row in self.scores.get(key, ()) if row.stage == stage and _is_shared(row))

    def words_of(self, key: int) -> dict[tuple[Stage, Arm], int]:
        """Return the newest adjudicated value for each of the item's texts."""
        found: dict[tuple[Stage, Arm], Word] = dict(self.words.get(key, {}))
        for stage in STAGES:
            place = (stage, Arm.MODEL)
            said = [
                self.words[one][place]
                for one in self.alike(key, stage)
                if place in self.words.get(one, {})
            ]
            if said:
                found[place] = max(said)
        return {place: word.value for place, word in found.items()}

    def cannot_judge(self, key: int) -> frozenset[int]:
        """Return the reviewers who reported that they can't judge the script."""
        return frozenset(
            work.reviewer
            for one in self.alike(key, Stage.SCRIPT)
            for work in self.work.get(one, ())
            if work.state == _CANNOT_JUDGE
        )

    def gone(self, key: int) -> frozenset[int]:
        """Return the reviewers who scored the closed item but no longer have an assignment to it.

        Later stages don't wait for these reviewers.

        The result is empty for an open item, because other reviewers may still replace them. The result is also empty
        for items without assignments, such as imported labels.
        """
        if self.rows[key].state != Item.State.CLOSED.value:
            return frozenset()
        holding = {work.reviewer for work in self.work.get(key, ()) if work.state in _HOLDING}
        if not holding:
            return frozenset()
        return frozenset(row.reviewer for row in self.scores_of(key)) - holding

    def judge(self, key: int) -> Judged:
        """Return the facts about the item that the figures need."""
        return self.situations[key].judge(
            (given_score(row, order) for order, row in enumerate(self.scores_of(key))),
            adjudicated=self.words_of(key),
            cannot_judge=self.cannot_judge(key),
            gone=self.gone(key),
            passed_over=passed_over(self.work.get(key, ())),
            active_seconds=add_up(row.active_seconds for row in self.scores.get(key, ())),
        )


class _Row(Protocol):
    """The attributes of a score that the study's rules need."""

    @property
    def reviewer(self) -> int: ...
    @property
    def stage(self) -> str: ...
    @property
    def value(self) -> int: ...
    @property
    def arm(self) -> str: ...
    @property
    def text(self) -> int: ...
    @property
    def round(self) -> int: ...
    @property
    def is_blind(self) -> bool: ...
    @property
    def is_undone(self) -> bool: ...
    @property
    def was_called_in(self) -> bool: ...
    @property
    def is_author(self) -> bool: ...
    @property
    def is_first_quarter(self) -> bool: ...


def given_score(row: _Row, order: int) -> GivenScore:
    """Convert a score to the form that the rules in `review.study` need."""
    return GivenScore(
        reviewer=row.reviewer,
        stage=Stage(row.stage),
        value=row.value,
        order=order,
        arm=Arm(row.arm),
        text=row.text,
        round=row.round,
        is_blind=row.is_blind,
        is_undone=row.is_undone,
        was_called_in=row.was_called_in,
        is_author=row.is_author,
        is_first_quarter=row.is_first_quarter,
    )


def _is_shared(row: ScoreRow) -> bool:
    """Return whether the score is for a text that multiple arms may share, as in `Facts.groups`."""
    return row.arm == _MODEL and row.round == 1


def read_facts(keys: Collection[int]) -> Facts:
    """Return the facts about these items and the other arms of their cases, with a fixed number of queries."""
    rows = {row.pk: row for row in read_rows(_with_other_arms(keys))}
    situations, texts = read_situations(list(rows.values()))
    groups = _group(rows, situations, texts)
    _share_called_in(rows, situations, texts, groups)
    return Facts(
        rows, situations, texts, groups, read_scores(rows), read_words(rows), read_work(rows)
    )


def _share_called_in(
    rows: dict[int, ItemRow],
    situations: dict[int, Situation],
    texts: dict[int, Texts],
    groups: dict[tuple[int, Stage, str], list[int]],
) -> None:
    """Add the tie-break reviewers of a script to the expected reviewers of every other arm that has this script."""
    if not any(row.called_in for row in rows.values()):
        return
    for key, row in rows.items():
        script = texts[key][0]
        if not (script and situations[key].is_real):
            continue
        others = [one for one in groups[row.case, Stage.SCRIPT, script] if one != key]
        called = sum(rows[one].called_in for one in others)
        if called:
            own = situations[key]
            situations[key] = own._replace(
                wanted=own.wanted + called, called_in=own.called_in + called
            )


def same_texts(keys: Collection[int]) -> dict[tuple[int, str], list[int]]:
    """Return a dict that maps (item, stage) to the items of the case with the same text, if at least two have it."""
    if not keys:
        return {}
    rows = {row.pk: row for row in read_rows(_with_other_arms(keys))}
    situations, texts = read_situations(list(rows.values()))
    groups = _group(rows, situations, texts)
    return {
        (key, stage.value): groups[rows[key].case, stage, text]
        for key in keys
        if key in rows and situations[key].is_real
        for stage, text in zip(STAGES, texts[key], strict=True)
        if text and len(groups[rows[key].case, stage, text]) > 1
    }


def _group(
    rows: dict[int, ItemRow], situations: dict[int, Situation], texts: dict[int, Texts]
) -> dict[tuple[int, Stage, str], list[int]]:
    groups: dict[tuple[int, Stage, str], list[int]] = defaultdict(list)
    for key, row in rows.items():
        if situations[key].is_real:
            for stage, text in zip(STAGES, texts[key], strict=True):
                if text:
                    groups[row.case, stage, text].append(key)
    return groups


def _with_other_arms(keys: Collection[int]) -> list[int]:
    query = """
        SELECT other.id FROM review_item other
        WHERE other.case_id IN (SELECT item.case_id FROM review_item item WHERE item.id = ANY(%s))
        ORDER BY other.id
    """
    return [key for (key,) in fetch(query, keys)]
