"""Reads items as the figures want them: what was scored, by whom, about which Draft, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from pipeline.models import Draft, Feedback, Run
from pipeline.types import Arm, DraftKind, Verdict
from review.desk import first_draft_of
from review.models import Adjudication, Assignment, Case, Item, Score
from review.study.types import GivenScore, Judged, Origin, Recommended, Stage

_ORIGINS = {
    DraftKind.REPAIRED.value: Origin.REPAIRED,
    DraftKind.RETRIEVED.value: Origin.RETRIEVED,
}


def judge_items(items: Sequence[Item]) -> dict[int, Judged]:
    """What each item brings to the figures, by its primary key; `items` come with case and run."""
    keys = [item.pk for item in items]
    runs = [item.run_id for item in items if item.run_id]
    drafts = _by_run(runs)
    feedbacks = _feedback_by_draft(runs)
    scores = _scores_by_item(keys)
    adjudicated = _adjudicated_by_item(keys)
    passed_over = _passed_over_by_item(keys)
    return {
        item.pk: _judge(
            item,
            drafts[item.run_id or 0],
            feedbacks,
            scores=scores[item.pk],
            adjudicated=adjudicated[item.pk],
            passed_over=tuple(passed_over[item.pk]),
        )
        for item in items
    }


def _judge(
    item: Item,
    drafts: list[Draft],
    feedbacks: dict[int, Feedback],
    *,
    scores: list[_Given],
    adjudicated: dict[tuple[Stage, Arm], int],
    passed_over: tuple[tuple[int, str], ...],
) -> Judged:
    run = item.run
    first = first_draft_of(drafts)
    feedback = feedbacks.get(first.pk) if first else None
    refined = next((one for one in drafts if feedback and one.feedback_id == feedback.pk), None)
    recommended = run.recommended_id if run else None
    return Judged(
        scores=tuple(_given(score) for score in scores),
        adjudicated=adjudicated,
        verdict=Verdict(run.verdict) if run and run.verdict else None,
        is_real=item.case.purpose == Case.Purpose.REAL and item.state != Item.State.WITHDRAWN,
        is_sham=item.sham,
        is_complete=item.overlap <= 1
        or item.state == Item.State.CLOSED
        or item.done >= item.overlap,
        origin=_ORIGINS.get(first.kind, Origin.MADE) if first else _origin_without(run),
        has_refined=refined is not None,
        recommended=_recommended(recommended, first, refined),
        execution=item.execution,
        execution_reason=item.execution_reason,
        feedback_words=feedback.words if feedback and not feedback.no_error_found else None,
        passed_over=passed_over,
        active_seconds=_sum_known(score.active_seconds for score in scores),
        is_demo=run is not None and run.demo,
    )


def _origin_without(run: Run | None) -> Origin:
    """Of an item without a script: its run failed, is under way, or stands for labels without their texts."""
    is_over = run is not None and not run.is_active
    is_label = run is not None and (run.origin, run.state) == (Run.Origin.IMPORTED, Run.State.DONE)
    return Origin.FAILED if is_over and not is_label else Origin.MADE


def _recommended(
    recommended: int | None, first: Draft | None, refined: Draft | None
) -> Recommended:
    if recommended is None:
        return Recommended.NONE
    if first and recommended == first.pk:
        return Recommended.FIRST
    return Recommended.REFINED if refined and recommended == refined.pk else Recommended.OTHER


class _Given(NamedTuple):
    """One score, and whose feedback its text was made from."""

    pk: int
    item: int
    reviewer: int
    stage: str
    arm: str
    value: int
    current: bool
    blind: bool
    visible: dict[str, object]
    active_seconds: float | None
    reason: str | None
    feedback: int | None
    feedback_arm: str | None
    feedback_author: int | None

    @property
    def place(self) -> tuple[int, int, str, str]:
        return self.item, self.reviewer, self.stage, self.arm


def _given(score: _Given) -> GivenScore:
    by_expert = score.feedback_arm == Arm.EXPERT.value
    return GivenScore(
        reviewer=score.reviewer,
        stage=Stage(score.stage),
        value=score.value,
        order=score.pk,
        arm=Arm(score.arm),
        text=score.feedback or 0 if by_expert else 0,
        is_blind=score.blind,
        was_called_in=score.reason == Assignment.Reason.TIE_BREAK,
        is_author=by_expert and score.feedback_author == score.reviewer,
        is_copied="copied_from" in score.visible,
    )


def _sum_known(seconds: Iterable[float | None]) -> float | None:
    known = [one for one in seconds if one is not None]
    return sum(known) if known else None


def _by_run(runs: Sequence[int]) -> dict[int, list[Draft]]:
    """Drafts without their texts, which may be long and are not asked for here."""
    found: dict[int, list[Draft]] = defaultdict(list)
    for draft in Draft.objects.filter(run__in=runs).defer("script", "note").order_by("number"):
        found[draft.run_id].append(draft)
    return found


def _feedback_by_draft(runs: Sequence[int]) -> dict[int, Feedback]:
    models = Feedback.objects.filter(draft__run__in=runs, arm=Arm.MODEL.value).defer("text")
    return {feedback.draft_id: feedback for feedback in models}


def _scores_by_item(items: Sequence[int]) -> dict[int, list[_Given]]:
    """Every score ever given of a stage that has a current one; the study's rules choose among them."""
    found: dict[int, list[_Given]] = defaultdict(list)
    rows = [_Given(*row) for row in _scores_of(items)]
    current = {row.place for row in rows if row.current}
    for row in rows:
        if row.place in current:
            found[row.item].append(row)
    return found


def _scores_of(items: Sequence[int]) -> QuerySet[Score, tuple[Any, ...]]:
    """As plain values: a report may stand on a million scores, and rows as objects take twice the time."""
    return (
        Score.objects.filter(item__in=items)
        .order_by("pk")
        .values_list(
            *("pk", "item", "reviewer", "stage", "arm", "value", "current", "blind", "visible"),
            *("active_seconds", "assignment__reason"),
            *("draft__feedback", "draft__feedback__arm", "draft__feedback__author"),
        )
    )


def _adjudicated_by_item(items: Sequence[int]) -> dict[int, dict[tuple[Stage, Arm], int]]:
    found: dict[int, dict[tuple[Stage, Arm], int]] = defaultdict(dict)
    rows = Adjudication.objects.filter(item__in=items, current=True)
    for item, stage, arm, value in rows.values_list("item", "stage", "arm", "value"):
        found[item][Stage(stage), Arm(arm)] = value
    return found


def _passed_over_by_item(items: Sequence[int]) -> dict[int, list[tuple[int, str]]]:
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = Assignment.objects.filter(
        item__in=items, state__in=[Assignment.State.SKIPPED, Assignment.State.CANNOT_JUDGE]
    ).order_by("pk")
    for item, reviewer, state in rows.values_list("item", "reviewer", "state"):
        found[item].append((reviewer, state))
    return found
