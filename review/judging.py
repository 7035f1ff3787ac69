"""Reads items as the figures want them: what was scored, by whom, about which Draft, in a fixed number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pipeline.models import Draft, Feedback
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
    passed_over = set(
        Assignment.objects.filter(
            item__in=keys, state__in=[Assignment.State.SKIPPED, Assignment.State.CANNOT_JUDGE]
        ).values_list("item", flat=True)
    )
    return {
        item.pk: _judge(
            item,
            drafts[item.run_id or 0],
            feedbacks,
            scores=scores[item.pk],
            adjudicated=adjudicated[item.pk],
            was_skipped=item.pk in passed_over,
        )
        for item in items
    }


def _judge(
    item: Item,
    drafts: list[Draft],
    feedbacks: dict[int, Feedback],
    *,
    scores: list[Score],
    adjudicated: dict[tuple[Stage, Arm], int],
    was_skipped: bool,
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
        is_real=item.case.purpose == Case.Purpose.REAL,
        is_sham=item.sham,
        is_complete=item.overlap <= 1
        or item.state == Item.State.CLOSED
        or item.done >= item.overlap,
        origin=_ORIGINS.get(first.kind, Origin.MADE) if first else Origin.FAILED,
        has_refined=refined is not None,
        recommended=_recommended(recommended, first, refined),
        execution=item.execution,
        execution_reason=item.execution_reason,
        feedback_words=feedback.words if feedback and not feedback.no_error_found else None,
        was_skipped=was_skipped,
    )


def _recommended(
    recommended: int | None, first: Draft | None, refined: Draft | None
) -> Recommended:
    if recommended is None:
        return Recommended.NONE
    if first and recommended == first.pk:
        return Recommended.FIRST
    return Recommended.REFINED if refined and recommended == refined.pk else Recommended.OTHER


def _given(score: Score) -> GivenScore:
    explained = score.draft.feedback if score.draft else None
    by_expert = explained if explained and explained.arm == Arm.EXPERT.value else None
    return GivenScore(
        reviewer=score.reviewer_id,
        stage=Stage(score.stage),
        value=score.value,
        order=score.pk,
        arm=Arm(score.arm),
        text=by_expert.pk if by_expert else 0,
        is_blind=score.blind,
        was_called_in=bool(
            score.assignment and score.assignment.reason == Assignment.Reason.TIE_BREAK
        ),
        is_author=bool(by_expert and by_expert.author_id == score.reviewer_id),
        is_copied="copied_from" in score.visible,
    )


def _by_run(runs: Sequence[int]) -> dict[int, list[Draft]]:
    """Drafts without their texts, which may be long and are not asked for here."""
    found: dict[int, list[Draft]] = defaultdict(list)
    for draft in Draft.objects.filter(run__in=runs).defer("script", "note").order_by("number"):
        found[draft.run_id].append(draft)
    return found


def _feedback_by_draft(runs: Sequence[int]) -> dict[int, Feedback]:
    models = Feedback.objects.filter(draft__run__in=runs, arm=Arm.MODEL.value).defer("text")
    return {feedback.draft_id: feedback for feedback in models}


def _scores_by_item(items: Sequence[int]) -> dict[int, list[Score]]:
    """Every score ever given of a stage that has a current one; the study's rules choose among them."""
    found: dict[int, list[Score]] = defaultdict(list)
    current: set[tuple[int, int, str, str]] = set()
    rows = list(
        Score.objects.filter(item__in=items)
        .select_related("draft__feedback", "assignment")
        .defer("comment", "draft__script", "draft__note", "draft__feedback__text")
        .order_by("pk")
    )
    for row in rows:
        if row.current:
            current.add((row.item_id, row.reviewer_id, row.stage, row.arm))
    for row in rows:
        if (row.item_id, row.reviewer_id, row.stage, row.arm) in current:
            found[row.item_id].append(row)
    return found


def _adjudicated_by_item(items: Sequence[int]) -> dict[int, dict[tuple[Stage, Arm], int]]:
    found: dict[int, dict[tuple[Stage, Arm], int]] = defaultdict(dict)
    rows = Adjudication.objects.filter(item__in=items, current=True)
    for item, stage, arm, value in rows.values_list("item", "stage", "arm", "value"):
        found[item][Stage(stage), Arm(arm)] = value
    return found
