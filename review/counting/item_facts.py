"""Read the facts about items that the figures need, such as verdicts and origins, in a few queries.

Rows are read as plain values, because a report may use a million scores, and model objects need several times as much
memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from pipeline.models import Run
from pipeline.types import Arm, DraftKind, Verdict
from review.counting.score_reader import fetch
from review.models import Case, Item
from review.study import GivenScore, Judged, Stage
from review.study.first_draft import first_draft_of
from review.study.patterns import LENGTHS, class_of_length
from review.study.types import Origin, Recommended

_ORIGINS = {
    DraftKind.REPAIRED.value: Origin.REPAIRED.value,
    DraftKind.RETRIEVED.value: Origin.RETRIEVED.value,
}
# The key in an imported run's spec for a script that was retrieved from an entry outside this catalogue.
MADE = "made"
# The key in an imported run's spec for a recommended Draft that is neither scored nor in the file.
ADVISED = "recommended"
_MODEL = Arm.MODEL.value
_NOT_ACTIVE = (Run.State.DONE.value, Run.State.FAILED.value, Run.State.CANCELLED.value)


class Situation(NamedTuple):
    """The facts about an item other than its scores, in values that compare quickly."""

    verdict: str
    is_real: bool
    is_sham: bool
    wanted: int
    called_in: int
    hides_verdict: bool
    is_over: bool
    origin: str
    has_feedback: bool
    has_refined: bool
    is_same: bool
    recommended: str
    recommended_round: int | None
    execution: float | None
    execution_reason: str
    feedback_words: int | None
    is_demo: bool
    later: tuple[int | None, ...]

    def judge(self, scores: Iterable[GivenScore], **more: Any) -> Judged:
        """Return the situation combined with the item's scores and other facts."""
        return Judged(
            scores=tuple(scores),
            verdict=Verdict(self.verdict) if self.verdict else None,
            is_real=self.is_real,
            is_sham=self.is_sham,
            wanted=self.wanted,
            called_in=self.called_in,
            hides_verdict=self.hides_verdict,
            is_over=self.is_over,
            origin=Origin(self.origin),
            has_feedback=self.has_feedback,
            has_refined=self.has_refined,
            is_same=self.is_same,
            recommended=Recommended(self.recommended),
            recommended_round=self.recommended_round,
            execution=self.execution,
            execution_reason=self.execution_reason,
            feedback_words=self.feedback_words,
            is_demo=self.is_demo,
            later=self.later,
            **more,
        )


Texts = tuple[str, str, str]  # hashes of the script, feedback and refined script, or empty strings
STAGES = tuple(Stage)


class ItemRow(NamedTuple):
    """A database row of an item, with columns of its run and campaign."""

    pk: int
    case: int
    configuration: int
    pattern: str
    disputed: bool
    purpose: str
    state: str
    sham: bool
    overlap: int
    called_in: int
    done: int
    execution: float | None
    execution_reason: str
    run: int | None
    verdict: str | None
    run_state: str | None
    run_origin: str | None
    demo: bool | None
    recommended: int | None
    made: str
    # `Recommended.OTHER` if an imported run recommended a script that is not one of its Drafts.
    advised: str
    hides_verdict: bool
    is_counted: bool  # False for pilot items if the campaign excludes its pilot from the figures


# --- Items and their runs -----------------------------------------------------------------------------------------


def read_rows(keys: Collection[int]) -> list[ItemRow]:
    """Return the rows of the items, ordered by primary key."""
    query = """
        SELECT item.id, item.case_id, item.configuration_id, item.pattern, item.disputed, "case".purpose,
               item.state, item.sham, item.overlap, item.called_in, item.done, item.execution, item.execution_reason,
               item.run_id, run.verdict, run.state, run.origin, run.demo, run.recommended_id,
               coalesce(run.spec ->> 'made', ''), coalesce(run.spec ->> 'recommended', ''),
               campaign.hides_verdict, NOT item.pilot OR campaign.pilot_counts
        FROM review_item item JOIN review_case "case" ON "case".id = item.case_id
        JOIN review_campaign campaign ON campaign.id = item.campaign_id
        LEFT JOIN pipeline_run run ON run.id = item.run_id
        WHERE item.id = ANY(%s) ORDER BY item.id
    """
    return [ItemRow(*row) for row in fetch(query, keys)]


def read_situations(
    rows: Sequence[ItemRow],
) -> tuple[dict[int, Situation], dict[int, Texts]]:
    """Return the situation of each item and the hashes of its texts."""
    runs = [row.run for row in rows if row.run]
    drafts, feedbacks = read_drafts(runs), _feedback_by_draft(runs)
    situations, texts = {}, {}
    for row in rows:
        made = _Made.of(drafts[row.run or 0], feedbacks)
        chosen = next((one for one in drafts[row.run or 0] if one.pk == row.recommended), None)
        situations[row.pk], texts[row.pk] = _situation(row, made, chosen), made.texts
    return situations, texts


class DraftRow(NamedTuple):
    """A Draft without its text, which may be long and is not needed for counting."""

    pk: int
    run: int
    kind: str
    refinement_id: int | None
    feedback_id: int | None
    sha256: str
    arm: str
    round: int


class _Feedback(NamedTuple):
    pk: int
    words: int
    no_error_found: bool
    md5: str


class _Made(NamedTuple):
    """A run's results by stage: the first Draft, the model's feedback on it, and the refined Drafts."""

    first: DraftRow | None
    feedback: _Feedback | None
    refined: DraftRow | None
    later: list[DraftRow]

    @classmethod
    def of(cls, drafts: list[DraftRow], feedbacks: dict[int, _Feedback]) -> _Made:
        first = first_draft_of(drafts)
        feedback = feedbacks.get(first.pk) if first else None
        refined = next((one for one in drafts if feedback and one.feedback_id == feedback.pk), None)
        later = {
            one.round: one
            for one in reversed(drafts)
            if one.arm == _MODEL and one.kind == DraftKind.REFINED.value and one.round > 1
        }
        return cls(first, feedback, refined, [later[round_] for round_ in sorted(later)])

    @property
    def texts(self) -> Texts:
        if self.first is None:
            return ("", "", "")
        script = self.first.sha256
        return (
            script,
            f"{script} {self.feedback.md5}" if self.feedback else "",
            f"{script} {self.refined.sha256}" if self.refined else "",
        )

    @property
    def _chain(self) -> list[str]:
        """Return the text hashes of all rounds, starting with the first Draft."""
        return [one.sha256 for one in (self.first, self.refined, *self.later) if one]

    def round_of(self, draft: DraftRow | None) -> int | None:
        """Return the number of the earliest round with this Draft's text (0 for the first Draft), or None."""
        if draft is None or not (self.first and self.refined):
            return None
        chain = self._chain
        return chain.index(draft.sha256) if draft.sha256 in chain else None

    @property
    def same_later(self) -> tuple[int | None, ...]:
        """Return, for each Draft of a later round, the earliest previous round with the same text, or None."""
        chain = self._chain
        return tuple(
            earliest if (earliest := chain.index(chain[place])) < place else None
            for place in range(2, len(chain))
        )


def _situation(row: ItemRow, made: _Made, chosen: DraftRow | None) -> Situation:
    first, feedback, refined = made.first, made.feedback, made.refined
    explains = feedback is not None and not feedback.no_error_found
    return Situation(
        verdict=row.verdict or "",
        is_real=row.purpose == Case.Purpose.REAL.value
        and row.state != Item.State.WITHDRAWN.value
        and row.is_counted,
        is_sham=row.sham,
        wanted=row.overlap,
        called_in=row.called_in,
        hides_verdict=row.hides_verdict,
        is_over=row.run_state in _NOT_ACTIVE,
        origin=_ORIGINS.get(row.made or first.kind, Origin.MADE.value)
        if first
        else _origin_without(row),
        has_feedback=feedback is not None,
        has_refined=refined is not None,
        is_same=first is not None and refined is not None and first.sha256 == refined.sha256,
        recommended=_recommended(row, first, refined),
        recommended_round=made.round_of(chosen),
        execution=row.execution,
        execution_reason=row.execution_reason,
        feedback_words=_typical(feedback.words) if feedback and explains else None,
        is_demo=bool(row.demo),
        later=made.same_later if refined else (),
    )


def _typical(words: int) -> int:
    """Return the representative length of a length class, so that items in the same class compare equal."""
    return (*LENGTHS, LENGTHS[-1] + 1)[class_of_length(words)]


def _origin_without(row: ItemRow) -> str:
    """Return the origin of an item without a script: `failed` if its run is over, unless its labels were imported."""
    is_over = row.run_state in _NOT_ACTIVE
    is_label = (row.run_origin, row.run_state) == (Run.Origin.IMPORTED.value, Run.State.DONE.value)
    return Origin.FAILED.value if is_over and not is_label else Origin.MADE.value


def _recommended(row: ItemRow, first: DraftRow | None, refined: DraftRow | None) -> str:
    if row.recommended is None:
        is_other = row.advised == Recommended.OTHER.value
        return Recommended.OTHER.value if is_other else Recommended.NONE.value
    if first and row.recommended == first.pk:
        return Recommended.FIRST.value
    is_refined = refined is not None and row.recommended == refined.pk
    return Recommended.REFINED.value if is_refined else Recommended.OTHER.value


def read_drafts(runs: Collection[int]) -> dict[int, list[DraftRow]]:
    """Return the Drafts of each run in order of their numbers, without their texts."""
    found: dict[int, list[DraftRow]] = defaultdict(list)
    query = """
        SELECT id, run_id, kind, refinement_id, feedback_id, sha256, arm, round FROM pipeline_draft
        WHERE run_id = ANY(%s) ORDER BY number
    """
    for row in fetch(query, runs):
        found[row[1]].append(DraftRow(*row))
    return found


def _feedback_by_draft(runs: Sequence[int]) -> dict[int, _Feedback]:
    query = """
        SELECT feedback.draft_id, feedback.id, feedback.words, feedback.no_error_found, md5(feedback.text)
        FROM pipeline_feedback feedback JOIN pipeline_draft draft ON draft.id = feedback.draft_id
        WHERE draft.run_id = ANY(%s) AND feedback.arm = 'model'
    """
    return {draft: _Feedback(*rest) for draft, *rest in fetch(query, runs)}
