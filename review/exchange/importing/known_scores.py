"""Read the existing scores, adjudications, comments and flags of items, so that imports can skip known rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from pipeline.models import Draft
from review.exchange.importing.scored_texts import SeenBy, SeenTexts, read_seen
from review.exchange.rows.score_rows import GivenRow, RemarkRow
from review.exchange.rows.values import RowProblem
from review.models import Adjudication, Assignment, Flag, Remark, Score

# Item, reviewer (0 for an adjudication), stage, arm, and Draft (0 for feedback or if the item has no such text).
Place = tuple[int, int, str, str, int]


class Said(NamedTuple):
    """A known score: its primary key (None if it is in this slice), its value, and its time if known."""

    key: int | None
    value: int
    at: datetime | None

    @property
    def rank(self) -> float:
        """Return a sort key for chronological order. Scores without a time come first."""
        return self.at.timestamp() if self.at else float("-inf")


@dataclass
class KnownScores:
    """The known data of some items, including rows of this slice that were already processed."""

    # All scores for each place. `current` contains the score that counts.
    scores: dict[Place, list[Said]] = field(default_factory=lambda: defaultdict(list))
    current: dict[Place, Said] = field(default_factory=dict)
    # Primary keys of stored scores that scores in this slice replace as the current score.
    replaced: list[int] = field(default_factory=list)
    earlier: set[tuple[Place, int, datetime]] = field(default_factory=set)
    adjudicated: dict[Place, int] = field(default_factory=dict)
    raters: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    adjudicators: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    seen: Mapping[SeenBy, Mapping[str, SeenTexts]] = field(default_factory=dict)
    # Maps (item, stage) to the items of its case with the same text, including the item itself.
    same_text: Mapping[tuple[int, str], Collection[int]] = field(default_factory=dict)
    # Maps (item, reviewer) to a finished assignment, or to None if the review is in progress.
    submitted: dict[tuple[int, int], int | None] = field(default_factory=dict)
    passed_over: set[tuple[int, int, str]] = field(default_factory=set)
    # `drafts` maps (item, script hash) to the Draft. `remarks` contains (item, user, Draft, line, text).
    drafts: dict[tuple[int, str], int] = field(default_factory=dict)
    remarks: set[tuple[int, int, int, int, str]] = field(default_factory=set)
    # (item, user, reason)
    flags: set[tuple[int, int, str]] = field(default_factory=set)

    def is_new(self, item: int, person: int, given: GivenRow) -> bool:
        """Return whether the row is new, and record it. Raises RowProblem if the row contradicts the known data."""
        if given.remark:
            return self._is_new_remark(item, person, given.remark, given.comment)
        if given.flag:
            flag = (item, person, given.comment)
            is_new = flag not in self.flags
            self.flags.add(flag)
            return is_new
        if given.passed_over:
            said = (item, person, given.passed_over)
            is_new = said not in self.passed_over
            self.passed_over.add(said)
            return is_new
        if given.adjudicates:
            return self._is_new_word(item, person, given)
        if self.submitted.get((item, person), 0) is None:
            raise RowProblem("this reviewer is working on the item now", column="reviewer")
        if person in self.adjudicators[item]:
            raise RowProblem("this reviewer has adjudicated the item", column="reviewer")
        return self._is_new_score(item, person, given)

    def _is_new_remark(self, item: int, person: int, remark: RemarkRow, text: str) -> bool:
        draft = self.drafts.get((item, remark.draft_sha256))
        if draft is None:
            raise RowProblem("the item has no script with this hash", column="draft_sha256")
        if not text:
            raise RowProblem("no comment found", column="comment")
        said = (item, person, draft, remark.line, text)
        is_new = said not in self.remarks
        self.remarks.add(said)
        return is_new

    def counts(self, item: int, person: int, given: GivenRow) -> bool:
        """Return whether this score is the current score for its place."""
        if given.undone_at or not given.current:
            return False
        current = self.current.get(self.place_of(item, person, given))
        return current is not None and (current.value, current.at) == (given.value, given.at)

    def place_of(self, item: int, person: int, given: GivenRow) -> Place:
        """Return the place of the score: item, reviewer, stage, arm and Draft."""
        draft, _feedback = self.seen_by(item, given)
        return item, person, given.stage, given.arm, draft or 0

    def seen_by(self, item: int, given: GivenRow) -> SeenTexts:
        """Return the primary keys of the Draft and the feedback that the score refers to. Missing keys are None."""
        texts = self.seen.get((item, given.arm, given.text), {})
        if given.stage == "feedback" or not given.text:
            texts = self.seen.get((item, given.arm, given.feedback_by), {}) or texts
        return texts.get(given.stage, (None, None))

    def _is_new_score(self, item: int, person: int, given: GivenRow) -> bool:
        """Return whether the score is new. A new score replaces an older current score for the same place.

        The replaced score is not deleted. Scores without a time sort before all scores with a time.
        """
        place = self.place_of(item, person, given)
        there = self.scores[place]
        if any((one.value, one.at) == (given.value, given.at) for one in there):
            return False
        before = self.current.get(place)
        if before is not None and given.current and not given.undone_at and given.at is None:
            if before.value == given.value:
                return False
            if before.at is None:
                raise RowProblem(
                    f"{given.stage} already has the score {before.value} from this reviewer, and"
                    " neither score has a time",
                    column=given.stage,
                )
        said = Said(None, given.value, given.at)
        there.append(said)
        self.raters[item].add(person)
        # If two scores have the same time, the score on the later line is current.
        is_newer = before is None or said.rank >= before.rank
        if given.current and not given.undone_at and is_newer:
            if before is not None and before.key is not None:
                self.replaced.append(before.key)
            self.current[place] = said
        return True

    def _is_new_word(self, item: int, person: int, given: GivenRow) -> bool:
        """Return whether the adjudication is new. A final score applies to all arms that share the text."""
        place = (item, 0, given.stage, given.arm, 0)
        if not given.current:
            if given.at is None:
                raise RowProblem("an earlier final score needs a time", column="at")
            said = (place, given.value, given.at)
            is_new = said not in self.earlier
            self.earlier.add(said)
            return is_new
        same = [item]
        if given.arm == "model":
            same = [*self.same_text.get((item, given.stage), [item])]
        for one in same:
            if person in self.raters[one]:
                raise RowProblem(
                    "a reviewer who scored the item can't adjudicate it", column="reviewer"
                )
            settled = self.adjudicated.get((one, 0, given.stage, given.arm, 0), given.value)
            if settled != given.value:
                raise RowProblem(
                    f"{given.stage} already has the final score {settled}", column=given.stage
                )
        is_new = place not in self.adjudicated
        self.adjudicated[place] = given.value
        self.adjudicators[item].add(person)
        return is_new


def read_known_scores(
    items: Collection[int],
    *,
    with_words: bool = False,
    same_text: Mapping[tuple[int, str], Collection[int]] | None = None,
) -> KnownScores:
    """Return the known data of these items. Line comments and flags are read only if `with_words` is true.

    `same_text` lists other items with the same texts. These items are read too, because adjudications need them.
    """
    known = KnownScores(seen=read_seen(items), same_text=same_text or {})
    items = {*items, *(one for same in known.same_text.values() for one in same)}
    scores = Score.objects.filter(item__in=items).order_by("pk")
    for pk, item, reviewer, stage, arm, draft, value, current, at, timed in scores.values_list(
        "pk", "item", "reviewer", "stage", "arm", "draft", "value", "current", "at", "timed"
    ):
        place = (item, reviewer, stage, arm, draft or 0)
        said = Said(pk, value, at if timed else None)
        known.scores[place].append(said)
        known.raters[item].add(reviewer)
        if current:
            known.current[place] = said
    words = Adjudication.objects.filter(item__in=items).order_by()
    for item, person, stage, arm, value, current, at in words.values_list(
        "item", "by", "stage", "arm", "value", "current", "at"
    ):
        key = (item, 0, stage, arm, 0)
        known.adjudicators[item].add(person)
        if current:
            known.adjudicated[key] = value
        else:
            known.earlier.add((key, value, at))
    _read_assignments(items, known)
    if with_words:
        _read_words(items, known)
    return known


def _read_assignments(items: Collection[int], known: KnownScores) -> None:
    rows = Assignment.objects.filter(item__in=items).order_by()
    for key, item, reviewer, state in rows.values_list("pk", "item", "reviewer", "state"):
        if state in Assignment.PASSED_OVER:
            known.passed_over.add((item, reviewer, state))
        elif state in Assignment.HOLDING:
            is_through = state == Assignment.State.SUBMITTED
            known.submitted[item, reviewer] = key if is_through else None


def _read_words(items: Collection[int], known: KnownScores) -> None:
    drafts = Draft.objects.filter(run__items__in=items).order_by("-number")
    for key, sha256, item in drafts.values_list("pk", "sha256", "run__items"):
        known.drafts[item, sha256] = key
    flags = Flag.objects.filter(item__in=items).order_by()
    known.flags.update(flags.values_list("item", "by", "reason"))
    remarks = Remark.objects.filter(item__in=items).order_by()
    known.remarks.update(remarks.values_list("item", "by", "draft", "line", "text"))
