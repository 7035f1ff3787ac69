"""Find the scores that count, and the final values of stages and later objects under a criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from tests.review.study.recount.records import (
    ELSEWHERE,
    Record,
    Study,
    is_failed,
    is_flagged,
    is_over,
    own_text,
    place_of,
    recommended_stage,
    same_stage,
    stage_of_round,
    text_of,
    verdict_of,
)
from tests.review.study.recount.scores import used_values, was_called_in

CRITERIA = {"strict": {2}, "partial": {1, 2}}
RIGHT, WRONG, UNRESOLVED, PENDING = "right", "wrong", "unresolved", "pending"
ABSENT, OPEN = "absent", "open"


@dataclass(frozen=True)
class Reading:
    """The rule that decides which scores count. The default is the study's own rule."""

    with_not_blind: bool = False
    without_called_in: bool = False
    # Exclude reviewers if one of their scores of the item is in the first quarter of all their scores.
    without_first_quarter: bool = False


PLAIN = Reading()


class Finals:
    """Every final value of a study, under one interpretation of its scores."""

    def __init__(self, study: Study, reading: Reading = PLAIN) -> None:
        self.study, self.reading = study, reading
        # Caches of the values of an item's stage under a criterion, which are needed many times.
        self._known: dict[tuple[str, str, str, str], str] = {}
        self._ends: dict[tuple[object, ...], list[End]] = {}

    def counting(self, item: Record, stage: str) -> dict[str, int]:
        """Return the value of each reviewer that the figures use."""
        return self._values(item, self.given(item, stage))

    def given(self, item: Record, stage: str) -> dict[str, list[Record]]:
        """Return all scores of the stage by reviewer, including those that do not count."""
        return self._of_reading(item, self._without_sham(item, stage))

    def _without_sham(self, item: Record, stage: str) -> dict[str, list[Record]]:
        found = self.study.scores.get(place_of(item, stage), {})
        if stage == "script" or not item.get("sham") or is_flagged(item):
            return found
        # Sham feedback is shown to reviewers who scored the script right. Its scores count in no figure.
        script = used_values(self.study, self.study.scores.get(place_of(item, "script"), {}))
        return {name: scores for name, scores in found.items() if script.get(name) != 2}

    def _values(self, item: Record, given: dict[str, list[Record]]) -> dict[str, int]:
        return used_values(self.study, given, with_not_blind=self.reading.with_not_blind)

    def _of_reading(self, item: Record, given: dict[str, list[Record]]) -> dict[str, list[Record]]:
        if self.reading.without_first_quarter:
            early = self._early(item)
            return {name: scores for name, scores in given.items() if name not in early}
        if not self.reading.without_called_in:
            return given
        kept = {
            name: [one for one in scores if not was_called_in(one)]
            for name, scores in given.items()
        }
        return {name: scores for name, scores in kept.items() if scores}

    def _early(self, item: Record) -> set[str]:
        """Return the reviewers with a score of the item that is in the first quarter of all their scores."""
        rounds = [stage_of_round(one["round"]) for one in item.get("later") or ()]
        stages = ("script", "feedback", "refined", *rounds)
        every = [self._without_sham(item, stage) for stage in stages]
        every += [
            self.study.expert_scores.get((own_text(item), expert["author"]), {})
            for expert in item.get("experts") or ()
        ]
        return {
            name
            for given in every
            for name, scores in given.items()
            if any(id(one) in self.study.early for one in scores)
        }

    def final(self, item: Record, stage: str, criterion: str) -> str:
        """Return right, wrong, unresolved or pending."""
        key = item["id"], item["configuration"], stage, criterion
        if key not in self._known:
            self._known[key] = self._final(item, stage, criterion)
        return self._known[key]

    def _final(self, item: Record, stage: str, criterion: str) -> str:
        good = CRITERIA[criterion]
        if stage == "script" and is_failed(item):
            return WRONG
        settled = self.study.adjudicated.get(place_of(item, stage))
        if settled:
            return RIGHT if settled[-1]["value"] in good else WRONG
        if not self._is_done(item, stage):
            return PENDING
        return by_majority(self.counting(item, stage).values(), good)

    def _is_done(self, item: Record, stage: str) -> bool:
        """Return whether all required reviewers have finished. If two or more are required, two must have scored."""
        scored = set(self.counting(item, stage))
        planned = self._planned(item)
        if planned == 1:
            return bool(scored)
        done = scored | self.study.could_not.get(text_of(item, "script"), set())
        if stage == "script":
            return len(done) >= planned and len(scored) >= 2
        if not self._is_done(item, "script"):
            return False  # the later stages may still open for another reviewer
        opened = self.opened_for(item)
        # A score given while too much was visible does not count, so another reviewer is needed.
        wanted = min(planned, len(opened))
        return (
            bool(scored)
            and opened <= done | set(self.given(item, stage))
            and len(done & opened) >= wanted
            and len(scored) >= min(2, wanted)
        )

    def _planned(self, item: Record) -> int:
        """Return the number of reviewers that the item needs. Without a number, all existing raters are needed.

        A called-in reviewer may be in addition to the planned number. Without called-in reviewers, fewer are needed.
        """
        planned: int = item.get("overlap") or 1
        if self.reading.without_called_in and self._has_called_in(item):
            return max(1, planned - (item.get("called_in") or 0))
        if self.reading.without_first_quarter:
            return max(1, planned - len(self._early(item)))
        return planned

    def _has_called_in(self, item: Record) -> bool:
        return any(
            was_called_in(one)
            for stage in ("script", "feedback", "refined")
            for scores in self._without_sham(item, stage).values()
            for one in scores
        )

    def opened_for(self, item: Record) -> set[str]:
        """Return the reviewers who see the later stages."""
        is_shown_to_all = is_flagged(item) and bool(item.get("refined"))
        values = self.counting(item, "script")
        return {name for name, value in values.items() if value < 2 or is_shown_to_all}

    def exists(self, item: Record, stage: str) -> bool:
        """Return whether the object exists. For labels without texts, it exists if a reviewer scored it."""
        if stage not in ("feedback", "refined"):
            return any(stage_of_round(one["round"]) == stage for one in item.get("later") or ())
        if item.get("script"):
            return bool(item.get(stage))
        given = self.given(item, stage).values()
        was_scored = any(not one.get("undone_at") for scores in given for one in scores)
        return was_scored or bool(self.study.adjudicated.get(place_of(item, stage)))

    def outcome(self, item: Record, stage: str, criterion: str) -> str:
        """Return right, wrong, absent or open for the feedback, the refined script or a later round's script."""
        if is_failed(item):
            return ABSENT
        if not self.exists(item, stage):
            return ABSENT if is_over(item) else OPEN
        found = self.final(item, same_stage(item, stage), criterion)
        return found if found in (RIGHT, WRONG) else OPEN

    def ends(
        self, item: Record, criterion: str, *, stages: Sequence[str] | None = None
    ) -> list[End]:
        """Return every possible final state of the script and the stages. If nothing is open, there is only one.

        Without `stages`, use the stages of the figures: feedback, refined script and the recommended draft.
        """
        key = (
            item["id"],
            item["configuration"],
            criterion,
            None if stages is None else tuple(stages),
        )
        if key not in self._ends:
            self._ends[key] = self._find_ends(item, criterion, stages)
        return self._ends[key]

    def _find_ends(self, item: Record, criterion: str, stages: Sequence[str] | None) -> list[End]:
        script = self.final(item, "script", criterion)
        ways: dict[str, tuple[str, ...]] = {
            "script": (script,) if script in (RIGHT, WRONG) else (RIGHT, WRONG)
        }
        if stages is None:
            chosen = recommended_stage(item)
            stages = ["feedback", "refined", *([chosen] if chosen else [])]
        for stage in stages:
            if stage != "script":
                ways[stage] = self._ways(item, stage, criterion)
        if not is_over(item):
            ways |= _still_to_come(item)
        found = [dict(zip(ways, values, strict=True)) for values in product(*ways.values())]
        return [end for end in found if _is_possible(item, end)]

    def _ways(self, item: Record, stage: str, criterion: str) -> tuple[str, ...]:
        if stage == ELSEWHERE:
            return (RIGHT, WRONG)
        found = self.outcome(item, stage, criterion)
        if found != OPEN:
            return (found,)
        return (RIGHT, WRONG) if self.exists(item, stage) else (RIGHT, WRONG, ABSENT)

    def is_unresolved(self, item: Record, stage: str, criterion: str) -> bool:
        """Return whether the object exists and needs adjudication."""
        if stage == ELSEWHERE or not (stage == "script" or self.exists(item, stage)):
            return False
        return self.final(item, same_stage(item, stage), criterion) == UNRESOLVED


# The final value of each stage, and for a run in progress also its verdict and recommendation.
End = dict[str, str]
VERDICT, RECOMMENDED = "verdict", "recommended"


def _still_to_come(item: Record) -> dict[str, tuple[str, ...]]:
    """Return the values that a run in progress can still set: a missing verdict and the recommended draft."""
    found = {RECOMMENDED: ("", "script", "refined", RIGHT, WRONG)}
    if not verdict_of(item):
        found[VERDICT] = ("", "correct", "incorrect", "unknown")
    return found


def _is_possible(item: Record, end: End) -> bool:
    """Return whether identical texts have identical values in this state."""
    same = {stage: same_stage(item, stage) for stage in end if stage not in (VERDICT, RECOMMENDED)}
    return all(end[one] == end[other] for one, other in same.items() if other in end)


def by_majority(values: Iterable[int], good: set[int]) -> str:
    """Return right if more than half of the values are right, wrong if more than half are wrong, and else
    unresolved."""
    each = [value in good for value in values]
    if 2 * sum(each) == len(each):
        return UNRESOLVED
    return RIGHT if 2 * sum(each) > len(each) else WRONG


def independent(study: Study, item: Record, stage: str) -> dict[str, int]:
    """Return each reviewer's independent value. Agreement is computed from these values."""
    given = Finals(study).given(item, stage)
    own = {
        name: [one for one in scores if not was_called_in(one)] for name, scores in given.items()
    }
    return used_values(study, {name: scores for name, scores in own.items() if scores})


def expert_final(
    study: Study, item: Record, criterion: str, *, with_authors: bool = False
) -> str | None:
    """Return the final value of the earliest scored refinement from an expert's feedback, or None.

    By default, scores by the feedback's author are excluded. Missing scores never make the value pending, because no
    figure of the model uses it.
    """
    good = CRITERIA[criterion]
    for expert in item.get("experts") or ():
        given = study.expert_scores.get((own_text(item), expert["author"]), {})
        given = {
            name: scores
            for name, scores in given.items()
            if with_authors or name != expert["author"]
        }
        if given:
            settled = study.expert_words.get(own_text(item))
            if settled:
                return RIGHT if settled[-1]["value"] in good else WRONG
            values = used_values(study, given).values()
            return by_majority(values, good) if values else None
    return None
