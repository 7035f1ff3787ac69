"""Find the exact texts that imported scores refer to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pipeline.types import Arm, DraftKind
from review.counting.item_facts import DraftRow, read_drafts
from review.counting.score_reader import fetch
from review.models import Item
from review.study.first_draft import first_draft_of

SeenTexts = tuple[int | None, int | None]  # draft, feedback
Stages = dict[str, SeenTexts]
SeenBy = tuple[int, str, str]  # item, arm, and the feedback's author or the number of a later round
_SCRIPT = (Arm.MODEL.value, "")


def read_seen(items: Collection[int]) -> dict[SeenBy, Stages]:
    """Return the Draft or feedback at each stage, by item, arm and expert.

    A row without an expert's name refers to the item's expert feedback. The script of a halo check is the refined
    script of its original item.
    """
    shown = list(Item.objects.filter(pk__in=items).order_by().values_list("pk", "run", "again"))
    texts = _read_texts({run for _item, run, _again in shown if run})
    found: dict[SeenBy, Stages] = {}
    for item, run, again in shown:
        for (arm, by), stages in texts.get(run, {}).items():
            if again != Item.Again.HALO.value:
                found[item, arm, by] = stages
            elif (arm, by) == _SCRIPT and "refined" in stages:
                found[item, arm, by] = {"script": stages["refined"]}
    return found


class _Feedback(NamedTuple):
    pk: int
    draft: int
    arm: str
    by: str


def _read_texts(runs: Collection[int]) -> dict[int, dict[tuple[str, str], Stages]]:
    """Return the Draft or feedback at each stage, by run, then by arm and expert."""
    query = """
        SELECT feedback.id, feedback.draft_id, feedback.arm, coalesce(author.username, '')
        FROM pipeline_feedback feedback JOIN pipeline_draft draft ON draft.id = feedback.draft_id
        LEFT JOIN auth_user author ON author.id = feedback.author_id
        WHERE draft.run_id = ANY(%s) ORDER BY feedback.id DESC
    """
    feedbacks: dict[int, list[_Feedback]] = defaultdict(list)
    for row in fetch(query, runs):
        feedbacks[row[1]].append(_Feedback(*row))
    return {run: _stages_of(own, feedbacks) for run, own in read_drafts(runs).items()}


def _stages_of(
    drafts: Sequence[DraftRow], feedbacks: dict[int, list[_Feedback]]
) -> dict[tuple[str, str], Stages]:
    first = first_draft_of(drafts)
    if first is None:
        return {}
    refined = {one.feedback_id: one.pk for one in drafts if one.kind == DraftKind.REFINED.value}
    found: dict[tuple[str, str], Stages] = {_SCRIPT: {"script": (first.pk, None)}}
    for feedback in feedbacks.get(first.pk, ()):
        for name in {feedback.by, ""} if feedback.arm == Arm.EXPERT.value else {""}:
            stages = found.setdefault((feedback.arm, name), {})
            stages["feedback"] = (None, feedback.pk)
            if feedback.pk in refined:
                stages["refined"] = (refined[feedback.pk], None)
    for one in drafts:
        if one.kind == DraftKind.REFINED.value and one.arm == Arm.MODEL.value and one.round > 1:
            later = found.setdefault((one.arm, str(one.round)), {})
            later.setdefault("refined", (one.pk, None))
    return found
