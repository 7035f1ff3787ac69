"""Compute the counts that are shown next to a figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.review.study.recount.finals import ABSENT, OPEN, RIGHT, WRONG, Finals
from tests.review.study.recount.intervals import share_of
from tests.review.study.recount.records import Record, is_failed, is_flagged, verdict_of

Beside = dict[str, Any]


class _Scored:
    """A configuration's items with a final script score, and the outcomes of their later stages."""

    def __init__(self, finals: Finals, items: list[Record], criterion: str) -> None:
        self._finals, self._criterion = finals, criterion
        self.right = [one for one in items if self._script(one) == RIGHT]
        self.wrong = [one for one in items if self._script(one) == WRONG]
        self.all = [one for one in items if self._script(one) in (RIGHT, WRONG)]

    def _script(self, item: Record) -> str:
        return self._finals.final(item, "script", self._criterion)

    def is_right(self, item: Record) -> bool:
        return self._script(item) == RIGHT

    def came_to(self, item: Record, stage: str) -> str:
        return self._finals.outcome(item, stage, self._criterion)

    def drafts(self) -> list[Record]:
        """Return the wrong first drafts. Failed runs have no draft."""
        return [one for one in self.wrong if not is_failed(one)]


def _count(items: list[Record], asked: Callable[[Record], bool]) -> int:
    return sum(asked(item) for item in items)


def _is_repaired(item: Record) -> bool:
    return item.get("made") == "repaired"


def _is_unknown(item: Record) -> bool:
    return verdict_of(item) == "unknown"


def _was_never_assessed(item: Record) -> bool:
    return not verdict_of(item)


def _is_covered(item: Record) -> bool:
    return verdict_of(item) in ("correct", "incorrect")


def _of_first_pass(scored: _Scored, repeats: bool) -> Beside:
    return {
        "repaired": _count(scored.all, _is_repaired),
        "repaired_right": _count(scored.right, _is_repaired),
        "failed": _count(scored.all, is_failed),
        "repaired_as_wrong": share_of(
            [
                (item["statement"], scored.is_right(item) and not _is_repaired(item))
                for item in scored.all
            ],
            repeats=repeats,
        ),
    }


def _of_agreement(scored: _Scored, repeats: bool) -> Beside:
    return {
        "unknown": _count(scored.all, _is_unknown),
        "never_assessed": _count(scored.all, _was_never_assessed),
    }


def _of_recall(scored: _Scored, repeats: bool) -> Beside:
    return {
        "unknown": _count(scored.wrong, _is_unknown),
        "never_assessed": _count(scored.wrong, _was_never_assessed),
        "covered": _count(scored.all, _is_covered),
        "coverage": share_of(
            [(item["statement"], _is_covered(item)) for item in scored.all], repeats=repeats
        ),
    }


def _of_useful(scored: _Scored, repeats: bool) -> Beside:
    came_to = [scored.came_to(item, "feedback") for item in scored.drafts()]
    return {"unscored": came_to.count(OPEN), "absent": came_to.count(ABSENT)}


def _of_correction(scored: _Scored, repeats: bool) -> Beside:
    """Return the counts for correction. An item is open if its refined script or the correctness of its feedback is
    open."""
    came_to = [
        (scored.came_to(item, "feedback"), scored.came_to(item, "refined"))
        for item in scored.drafts()
    ]
    return {
        "unscored": sum(
            feedback == OPEN or (feedback == RIGHT and refined == OPEN)
            for feedback, refined in came_to
        ),
        "not_refined": came_to.count((RIGHT, ABSENT)),
    }


def _of_expert_triggered(scored: _Scored, repeats: bool) -> Beside:
    return {
        "not_refined": _count(
            scored.drafts(), lambda item: scored.came_to(item, "refined") == ABSENT
        )
    }


def _of_recommended(scored: _Scored, repeats: bool) -> Beside:
    return {
        "not_recommended": _count(
            scored.all,
            lambda item: not is_failed(item) and (item.get("recommended") or "none") == "none",
        )
    }


def _of_net(scored: _Scored, repeats: bool) -> Beside:
    return {
        "fixed": _count(
            scored.wrong, lambda item: is_flagged(item) and scored.came_to(item, "refined") == RIGHT
        ),
        "broken": _count(
            scored.right, lambda item: is_flagged(item) and scored.came_to(item, "refined") == WRONG
        ),
    }


REASONS = ("different_interpretation", "too_strict", "wrong_expected_output", "other", "not_said")


def _of_execution(scored: _Scored, repeats: bool) -> Beside:
    differ = [
        item
        for item in scored.all
        if item.get("execution") is not None and (item["execution"] == 1) != scored.is_right(item)
    ]
    said = [item.get("execution_reason") or "not_said" for item in differ]
    return {"reasons": {reason: said.count(reason) for reason in REASONS}}


_BESIDE: dict[str, Callable[[_Scored, bool], Beside]] = {
    "first_pass_accuracy": _of_first_pass,
    "assessor_agreement": _of_agreement,
    "assessor_recall": _of_recall,
    "feedback_useful": _of_useful,
    "model_correction": _of_correction,
    "overall_expert_triggered": _of_expert_triggered,
    "overall_as_recommended": _of_recommended,
    "net": _of_net,
    "execution_agreement": _of_execution,
}


def beside_of(
    finals: Finals, name: str, items: list[Record], criterion: str, *, repeats: bool
) -> Beside:
    """Return the counts shown next to the named figure. Most figures have no such counts."""
    counts = _BESIDE.get(name)
    return counts(_Scored(finals, items, criterion), repeats) if counts else {}
