"""Studies made up from a seed, as rows of the files that the product imports."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

Row = dict[str, Any]
_BEGIN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
PEOPLE = ("anna", "bert", "cleo", "dora", "emil", "fred")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a study is like; everything from `unknown` on is a share of the items or of the scores."""

    seed: int
    items: int = 240
    overlap: int | None = 2  # None: the file does not say it, and the raters that are there are all
    reviewers: int = 0  # of whom each item has `overlap`; as many where it is 0
    per_statement: int = 1
    arms: tuple[str, ...] = ("imported",)
    right: float = 0.45
    careful: float = 0.85  # how often a reviewer gives what the script deserves
    has_verdicts: bool = True
    has_texts: bool = True
    unknown: float = 0.0
    not_assessed: float = 0.0
    no_feedback: float = 0.1
    no_refined: float = 0.1
    same_refined: float = 0.03
    same_script: float = 0.0  # of the items, between the arms
    copied: float = 0.5  # of the scores of the same text: also in the other arm
    only_neighbours: bool = False  # differences are 0 against 1 or 1 against 2 only
    adjudicated: float = 0.5  # of the differences
    overturned: float = 0.0
    missing: float = 0.0
    cannot_judge: float = 0.0
    skipped: float = 0.0
    called_in: float = 0.0
    not_blind: float = 0.0
    changed: float = 0.0
    experts: float = 0.0
    retrieved: float = 0.0
    repaired: float = 0.05
    failed: float = 0.0
    executed: float = 0.0
    recommended: float = 0.0
    sham: float = 0.0
    gold: float = 0.0
    withdrawn: float = 0.0


class Maker:
    """Makes the rows of one study."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.items: list[Row] = []
        self.scores: list[Row] = []
        self._random = random.Random(shape.seed)
        self._minute = 0
        self._raters: list[str] = []

    def make(self) -> Maker:
        """Fill `items` and `scores`; the latter in no order of time."""
        people = PEOPLE[: self.shape.reviewers or self.shape.overlap or 2]
        for number in range(self.shape.items):
            self._case(number, people)
        self._random.shuffle(self.scores)
        return self

    def _is(self, share: float) -> bool:
        return self._random.random() < share

    def _case(self, number: int, people: tuple[str, ...]) -> None:
        shape = self.shape
        statement = f"Do the task {number // shape.per_statement}"
        raters = self._random.sample(people, min(shape.overlap or len(people), len(people)))
        self._raters = raters  # whoever else scores was called in
        is_same = self._is(shape.same_script)
        purpose = {"purpose": "gold", "known": {"script": 2}} if self._is(shape.gold) else {}
        earlier: Row | None = None
        said: dict[tuple[str, str], list[Row]] = {}
        for arm in shape.arms:
            item = self._item(number, statement, arm) | purpose
            if earlier and is_same and "script" in earlier and "script" in item:
                for name in ("script", "feedback", "refined", "verdict"):
                    item.pop(name, None)
                    if name in earlier:
                        item[name] = earlier[name]
            self.items.append(item)
            if item.get("purpose") != "gold" and (item.get("script") or not shape.has_texts):
                self._review(item, raters, said)
            earlier = item

    def _item(self, number: int, statement: str, arm: str) -> Row:
        shape = self.shape
        row: Row = {"id": f"case-{number}", "statement": statement, "configuration": arm}
        if shape.overlap:
            row["overlap"] = shape.overlap
        if self._is(shape.failed):
            return row | {"made": "failed"}
        if self._is(shape.withdrawn):
            row["withdrawn"] = True
        if shape.has_verdicts and not self._is(shape.not_assessed):
            flags = self._random.random() < 0.5
            verdict = "unknown" if self._is(shape.unknown) else ("correct", "incorrect")[flags]
            row["verdict"] = verdict
        if self._is(shape.executed):
            row["execution"] = self._random.choice([0, 0.5, 1, 1])
        if shape.has_texts:
            self._write(row, number, arm)
        return row

    def _write(self, row: Row, number: int, arm: str) -> None:
        shape = self.shape
        row["script"] = f"echo {number} {arm}\n"
        if not self._is(shape.no_feedback):
            row["feedback"] = f"- Not {number} of {arm}."
            if not self._is(shape.no_refined):
                is_same = self._is(shape.same_refined)
                row["refined"] = row["script"] if is_same else f"echo -n {number} {arm}\n"
        if self._is(shape.retrieved):
            row["made"] = "retrieved"
        elif self._is(shape.repaired):
            row["made"] = "repaired"
        if self._is(shape.recommended):
            choices = ["first", "refined"] if "refined" in row else ["first"]
            row["recommended"] = self._random.choice([*choices, "none"])
        if self._is(shape.sham) and row.get("verdict") == "correct":
            row["sham"] = True
        if self._is(shape.experts):
            row["experts"] = [
                {
                    "author": PEOPLE[0],
                    "feedback": f"- Look at {number}.",
                    "refined": f"printf {number}\n",
                }
            ]

    def _review(self, item: Row, raters: list[str], said: dict[tuple[str, str], list[Row]]) -> None:
        """All that reviewers give an item; what has been said of the same text is its too."""
        script = 2 if self._is(self.shape.right) else self._random.choice([0, 0, 1])
        values = self._stage(item, "script", script, raters, said)
        flagged = item.get("verdict") == "incorrect" and "refined" in item
        opened = [name for name, value in values.items() if value < 2 or flagged or "sham" in item]
        for stage in ("feedback", "refined"):
            if stage in item or not self.shape.has_texts:
                deserved = self._random.choice([0, 1, 2, 2, 2])
                self._stage(item, stage, deserved, opened, said)
        for expert in item.get("experts", ()):
            for rater in opened:
                value = self._opinion(1)
                self._say(item, rater, "refined", value, arm="expert", feedback_by=expert["author"])

    def _stage(
        self,
        item: Row,
        stage: str,
        deserved: int,
        raters: list[str],
        said: dict[tuple[str, str], list[Row]],
    ) -> dict[str, int]:
        key = stage, "".join(str(item.get(name)) for name in ("script", stage))
        if item.get("script") and key in said:
            for row in said[key]:
                if self._is(self.shape.copied):
                    self.scores.append(
                        row | {"configuration": item["configuration"], "copied": True}
                    )
            return {row["reviewer"]: row["value"] for row in said[key]}
        before, values = len(self.scores), {}
        for rater in raters:
            if self._is(self.shape.missing):
                continue
            if stage == "script" and self._is(self.shape.cannot_judge):
                self._pass_over(item, rater, "cannot_judge")
                continue
            if stage == "script" and self._is(self.shape.skipped):
                self._pass_over(item, rater, "skipped")
                continue
            values[rater] = self._opinion(deserved)
            self._say(item, rater, stage, values[rater])
        if len(set(values.values())) > 1 and self._is(self.shape.called_in):
            helper = next(name for name in reversed(PEOPLE) if name not in values)
            values[helper] = self._opinion(deserved)
            self._say(item, helper, stage, values[helper])
        said[key] = [
            row
            for row in self.scores[before:]
            if row.get("current", True) and "passed_over" not in row
        ]
        self._settle(item, stage, values)
        return values

    def _opinion(self, deserved: int) -> int:
        if self._is(self.shape.careful):
            return deserved
        if not self.shape.only_neighbours:
            return self._random.choice([0, 1, 2])
        return {0: 1, 1: self._random.choice([0, 2]), 2: 1}[deserved]

    def _settle(self, item: Row, stage: str, values: dict[str, int]) -> None:
        differs = len(set(values.values())) > 1
        if self._is(self.shape.adjudicated if differs else self.shape.overturned):
            row = self._row(item, "judge", stage, self._random.choice([0, 1, 2]))
            self.scores.append(row | {"record": "adjudication", "comment": "So it is."})

    def _say(self, item: Row, rater: str, stage: str, value: int, **more: object) -> None:
        shape = self.shape
        if rater not in self._raters:
            more = {**more, "reason": "tie_break"}
        if self._is(shape.changed):
            # An earlier value; and at times one after something later was visible, which does not count.
            first = self._row(item, rater, stage, self._random.choice([0, 1, 2]))
            self.scores.append(first | {"current": False} | more)
            if self._is(0.5):
                self.scores.append(self._row(item, rater, stage, value) | {"current": False} | more)
                value, more = self._random.choice([0, 1, 2]), {**more, "blind": False}
        elif self._is(shape.not_blind):
            more = {**more, "blind": False}
        self.scores.append(self._row(item, rater, stage, value) | more)

    def _pass_over(self, item: Row, rater: str, how: str) -> None:
        row = self._row(item, rater, "", None)
        row = {name: value for name, value in row.items() if name not in ("stage", "value")}
        self.scores.append(row | {"record": "skip", "passed_over": how})

    def _row(self, item: Row, rater: str, stage: str, value: int | None) -> Row:
        self._minute += 1
        return {
            "record": "score",
            "item": item["id"],
            "configuration": item["configuration"],
            "reviewer": rater,
            "stage": stage,
            "value": value,
            "at": (_BEGIN + timedelta(minutes=self._minute)).isoformat(),
        }


STUDIES: dict[str, Shape] = {
    "overlap two": Shape(seed=1, executed=0.7),
    "overlap three": Shape(seed=2, overlap=3, reviewers=4, called_in=0.2),
    "overlap five": Shape(seed=3, overlap=5, items=160),
    "unknown verdicts": Shape(seed=4, unknown=0.25, not_assessed=0.1, executed=0.3),
    "unresolved by one criterion": Shape(
        seed=5, only_neighbours=True, adjudicated=0.0, careful=0.7, recommended=0.9
    ),
    "adjudicated": Shape(seed=6, adjudicated=1.0, overturned=0.05, careful=0.7),
    "not blind": Shape(seed=7, overlap=3, not_blind=0.15, missing=0.05),
    "same text in two arms": Shape(
        seed=8, items=200, arms=("small", "large"), same_script=0.5, adjudicated=0.6
    ),
    "expert arm": Shape(seed=9, experts=0.5),
    "several rounds": Shape(seed=10, recommended=0.95, items=200),
    "repeated statements": Shape(
        seed=11, items=360, per_statement=3, arms=("one", "two"), executed=0.5, careful=0.9
    ),
    "retrieved and failed": Shape(
        seed=12, retrieved=0.15, failed=0.1, repaired=0.2, withdrawn=0.05, gold=0.05
    ),
    "absent feedback and refined": Shape(
        seed=13, no_feedback=0.4, no_refined=0.5, same_refined=0.2
    ),
    "changed scores": Shape(seed=14, changed=0.3),
    "labels without an overlap": Shape(
        seed=15, overlap=None, has_texts=False, careful=0.75, missing=0.3, reviewers=3
    ),
    "pending and passed over": Shape(
        seed=16, overlap=3, missing=0.1, cannot_judge=0.08, skipped=0.05, sham=0.3
    ),
    "no assessor": Shape(seed=17, has_verdicts=False, no_refined=1.0, no_feedback=1.0, items=60),
    "few of everything": Shape(
        seed=18,
        **dict.fromkeys(
            (
                *("unknown", "not_assessed", "missing", "cannot_judge", "not_blind", "changed"),
                *("experts", "retrieved", "failed", "executed", "recommended", "sham", "gold"),
                *("withdrawn", "called_in", "overturned", "skipped"),
            ),
            0.08,
        ),
        items=40,
        per_statement=2,
        arms=("one", "two"),
        same_script=0.4,
    ),
}


def make(name: str, *, change: Callable[[Shape], Shape] = lambda shape: shape) -> Maker:
    """The rows of one of the studies."""
    return Maker(change(STUDIES[name])).make()
