"""Generate studies from a seed, as rows of the files that the product imports."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.review.study.made.shapes import Shape

Row = dict[str, Any]
_BEGIN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
PEOPLE = ("anna", "bert", "cleo", "dora", "emil", "fred")
JUDGE = "judge"
_REASONS = ("different_interpretation", "too_strict", "wrong_expected_output", "other", "")


class Maker:
    """A generator for the rows of one study."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.items: list[Row] = []
        self.scores: list[Row] = []
        # IDs and configurations of items whose runs are in progress, which no file can represent.
        self.running: list[tuple[str, str]] = []
        self._random = random.Random(shape.seed)
        self._minute = 0
        self._raters: list[str] = []

    def make(self) -> Maker:
        """Fill `items` and `scores`. The scores are not sorted by time."""
        if self.shape.rules:
            self.items.append({"record": "campaign", "id": "rules", "about": {**self.shape.rules}})
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
        self._raters = raters  # any other rater was called in
        is_same = self._is(shape.same_script)
        purpose = {"purpose": "gold", "known": {"script": 2}} if self._is(shape.gold) else {}
        earlier: Row | None = None
        said: dict[tuple[str, str], list[Row]] = {}
        for arm in shape.arms:
            item = self._item(number, statement, arm) | purpose
            if earlier and is_same and "script" in earlier and "script" in item:
                for name in ("script", "feedback", "refined", "verdict", "later"):
                    item.pop(name, None)
                    if name in earlier and name != "later":
                        item[name] = earlier[name]
                if item.get("recommended") in ("refined", "other"):
                    item["recommended"] = "first"
            self.items.append(item)
            if item.get("script") or not shape.has_texts:
                self._review(item, raters, said)
            for kind in ("repeat", "halo"):
                if not purpose and self._is(shape.again):
                    self._show_again(item, kind, raters)
            is_whole = "script" not in item or {"feedback", "refined"} <= item.keys()
            if not is_whole and self._is(shape.running):
                self.running.append((item["id"], arm))
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
            row["execution_reason"] = self._random.choice(_REASONS)
        if shape.has_texts:
            self._write(row, number, arm)
        return row

    def _write(self, row: Row, number: int, arm: str) -> None:
        shape = self.shape
        row["script"] = f"echo {number} {arm}\n"
        if not self._is(shape.no_feedback):
            row["feedback"] = f"- Not {number} of {arm}."
            if shape.has_long_feedback:
                row["feedback"] += " Look." * self._random.choice([0, 16, 17, 50, 100, 200])
                row["no_error_found"] = self._is(0.1)
            if not self._is(shape.no_refined):
                is_same = self._is(shape.same_refined)
                row["refined"] = row["script"] if is_same else f"echo -n {number} {arm}\n"
                self._write_rounds(row)
        if self._is(shape.retrieved):
            row["made"] = "retrieved"
        elif self._is(shape.repaired):
            row["made"] = "repaired"
        if self._is(shape.recommended):
            self._recommend(row)
        if self._is(shape.sham) and row.get("verdict") == "correct":
            row["sham"] = True
        if self._is(shape.experts):
            row["experts"] = [
                {
                    "author": author,
                    "feedback": f"- Look at {number}, says {author}.",
                    "refined": f"printf {number} {author}\n",
                }
                for author in PEOPLE[: self._random.choice([1, 2])]
            ]

    def _write_rounds(self, row: Row) -> None:
        """Add a second round and sometimes a third. Either may repeat the text of an earlier round."""
        last, share = 1, self.shape.rounds
        while last < 3 and self._is(share):
            last, share = last + 1, share and 0.5
            text = row["script"] if self._is(0.1) else f"{row['script'].rstrip()} # {last}\n"
            later = {"round": last, "feedback": f"- Still not: {last}.", "refined": text}
            row.setdefault("later", []).append(later)

    def _recommend(self, row: Row) -> None:
        choices = ["first", "refined"] if "refined" in row else ["first"]
        others = [*row.get("later", ()), {}] if "later" in row else []
        chosen = self._random.choice([*choices, "none", *("other" for _one in others)])
        row["recommended"] = chosen
        if chosen == "other":
            # Sometimes the file lacks the recommended round.
            one = self._random.choice(others)
            one["recommended"] = True

    def _show_again(self, item: Row, kind: str, raters: list[str]) -> None:
        """Add the item again, as a repeat of its script or as a halo check of its refined script."""
        text = item.get("script" if kind == "repeat" else "refined")
        if not text or text == item["script"] and kind == "halo" or item.get("withdrawn"):
            return
        shown = {
            **{name: item[name] for name in ("statement", "configuration")},
            "id": f"{kind}-{item['id']}-{item['configuration']}",
            "purpose": kind,
            "repeats": item["id"],
            "script": text,
        }
        self.items.append(shown)
        who = raters[0] if kind == "repeat" else next(n for n in PEOPLE if n not in raters)
        self._say(shown, who, "script", self._random.choice([0, 1, 2]))

    def _review(self, item: Row, raters: list[str], said: dict[tuple[str, str], list[Row]]) -> None:
        """Write all scores of an item. Scores of the same text also apply to it."""
        script = 2 if self._is(self.shape.right) else self._random.choice([0, 0, 1])
        values = self._stage(item, "script", script, raters, said)
        flagged = item.get("verdict") == "incorrect" and "refined" in item
        opened = [name for name, value in values.items() if value < 2 or flagged or "sham" in item]
        for stage in ("feedback", "refined"):
            if stage in item or not self.shape.has_texts:
                deserved = self._random.choice([0, 1, 2, 2, 2])
                self._stage(item, stage, deserved, opened, said)
        earlier = {item.get("script"), item.get("refined")}
        for later in item.get("later", ()):
            if later["refined"] not in earlier:
                deserved = self._random.choice([0, 1, 2, 2])
                for rater in opened:
                    if not self._is(self.shape.missing):
                        value = self._opinion(deserved)
                        self._say(item, rater, "refined", value, round=later["round"])
            earlier.add(later["refined"])
        for expert in item.get("experts", ())[: self._random.choice([1, 2])]:
            deserved = self._random.choice([0, 1, 2, 2])
            for rater in opened:
                value = self._opinion(deserved)
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
            row = self._row(item, JUDGE, stage, self._random.choice([0, 1, 2]))
            self.scores.append(row | {"record": "adjudication", "comment": "So it is."})

    def _say(self, item: Row, rater: str, stage: str, value: int, **more: object) -> None:
        """Write a score. The score may be changed, undone, repeated, or given while too much was visible."""
        shape = self.shape
        if rater not in self._raters and "repeats" not in item:
            more = {**more, "reason": "tie_break"}
        if self._is(shape.undone):
            self._take_back(item, rater, stage, more)
            if self._is(0.2):
                return
        if self._is(shape.changed):
            # An earlier value, and sometimes a value given after a later stage was visible, which does not count.
            first = self._row(item, rater, stage, self._random.choice([0, 1, 2]))
            self.scores.append(first | {"current": False} | more)
            if self._is(0.5):
                self.scores.append(self._row(item, rater, stage, value) | {"current": False} | more)
                value, more = self._random.choice([0, 1, 2]), {**more, "blind": False}
        elif self._is(shape.not_blind):
            more = {**more, "blind": False}
        elif self._is(shape.seen):
            more = {**more, "visible": self._visible()}
        row = self._row(item, rater, stage, value) | more
        if self._is(shape.tied):
            # Use the time of the previous score, if that score has the same reviewer and stage.
            row["at"] = self.scores[-1].get("at", row["at"]) if self.scores else row["at"]
        if self._is(shape.untimed):
            del row["at"]
        self.scores.append(row)

    def _take_back(self, item: Row, rater: str, stage: str, more: Row) -> None:
        row = self._row(item, rater, stage, self._random.choice([0, 1, 2])) | more
        self._minute += 1
        self.scores.append(row | {"current": False, "undone_at": _when(self._minute)})

    def _visible(self) -> dict[str, bool]:
        """Return the data that was visible: the feedback, something hidden, or nothing."""
        names = ("verdict", "feedback", "models", "reviewers", "execution", "reference")
        return {name: self._is(0.15) for name in names}

    def _pass_over(self, item: Row, rater: str, how: str) -> None:
        row = self._row(item, rater, "", None)
        row = {name: value for name, value in row.items() if name not in ("stage", "value")}
        self.scores.append(row | {"record": "skip", "passed_over": how})

    def _row(self, item: Row, rater: str, stage: str, value: int | None) -> Row:
        self._minute += 1
        row = {
            "record": "score",
            "item": item["id"],
            "configuration": item["configuration"],
            "reviewer": rater,
            "stage": stage,
            "value": value,
            "at": _when(self._minute),
        }
        if self._is(self.shape.timed_work):
            row["active_seconds"] = round(self._random.uniform(5, 300), 1)
        return row


def _when(minute: int) -> str:
    return (_BEGIN + timedelta(minutes=minute)).isoformat()
