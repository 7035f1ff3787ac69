"""Recount the execution tables from an export: the tests that count, their results and the experts' scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from tests.review.study.recount.figures import model_items
from tests.review.study.recount.finals import CRITERIA, RIGHT, WRONG, Finals
from tests.review.study.recount.intervals import share_of
from tests.review.study.recount.records import Record, Study

STAGES = ("script", "refined")
LABELS = (
    *("case_wrong", "interpretation", "output_too_strict"),
    *("world_unlike_reality", "script_wrong"),
)


def execution_of(study: Study, records: list[Record]) -> list[dict[str, Any]]:
    """Return a row for each configuration and stage, as in the report."""
    world, finals = _World(records), Finals(study)
    rows = []
    for configuration in sorted(study.configurations):
        for stage in STAGES:
            found = [
                (item, *world.checks_of(item, stage))
                for item in model_items(study, configuration)
                if item.get(f"{stage}_sha256") and world.was_run(item)
            ]
            if found:
                rows.append(
                    {
                        "configuration": configuration,
                        "stage": stage,
                        "imported": sum(world.is_imported(item, stage) for item, *_rest in found),
                        **{
                            criterion: _tabulate(finals, world, found, stage, criterion)
                            for criterion in CRITERIA
                        },
                    }
                )
    return rows


def words_of(statement: str) -> str:
    return " ".join(statement.casefold().split())


class _World:
    """The evidence records of an export."""

    def __init__(self, records: list[Record]) -> None:
        self.sets = {one["case_set"]: one for one in records if one["record"] == "case_set"}
        self.changes = [one for one in records if one["record"] == "case_revision"]
        self.results = {
            (one["script_sha256"], one["case_set"]): one
            for one in records
            if one["record"] == "execution"
        }
        self.labels: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for one in records:
            if one["record"] == "execution_label" and one["current"] and one.get("label"):
                self.labels[one["item"], one["configuration"], one["stage"]].add(one["label"])

    def was_run(self, item: Record) -> bool:
        """Return whether a script of the item was run in the tests that count or in the original tests."""
        sets = self.sets_of(item)
        scripts = [item.get(f"{stage}_sha256") for stage in STAGES]
        return bool(sets) and any(
            (script, name) in self.results
            for script in scripts
            for name in {*sets, *self.roots_of(item)}
        )

    def roots_of(self, item: Record) -> list[str]:
        """Return the test sets that were written for the item's statement."""
        return [
            name
            for name, one in self.sets.items()
            if not one["is_revision"]
            and words_of(one["content"]["statement"]) == words_of(item["statement"])
        ]

    def sets_of(self, item: Record) -> set[str]:
        """Return the test sets that count for the item's statement after all changes."""
        found: set[str] = set()
        for name in self.roots_of(item):
            changes = [change for change in self.changes if change["root"] == name]
            if changes:
                found.add(changes[-1].get("merged") or "")
            if not changes:
                found.add(name)
        return found - {""}

    def is_imported(self, item: Record, stage: str) -> bool:
        """Return whether any result that counts was imported."""
        found = [self.results.get((item[f"{stage}_sha256"], name)) for name in self.sets_of(item)]
        return any(one["imported"] for one in found if one)

    def checks_of(self, item: Record, stage: str) -> tuple[str, Counter[str]]:
        """Return passed, failed or no verdict, and the number of checks in each state."""
        states: Counter[str] = Counter()
        for name in self.sets_of(item):
            result = self.results.get((item[f"{stage}_sha256"], name))
            if result:
                states.update(check["state"] for check in result["checks"])
            else:
                cases = self.sets[name]["content"]["cases"]
                states["to_run"] += sum(len(case["expect"]) for case in cases)
        if states["to_run"] or states["not run"]:
            return "no_verdict", states
        outcome = "failed" if states["failed"] else "passed" if states["passed"] else "no_verdict"
        return outcome, states


def _tabulate(
    finals: Finals,
    world: _World,
    found: list[tuple[Record, str, Counter[str]]],
    stage: str,
    criterion: str,
) -> dict[str, Any]:
    confusion = {
        side: dict.fromkeys(("passed", "failed", "no_verdict"), 0)
        for side in ("right", "wrong", "open")
    }
    reasons: Counter[str] = Counter()
    checks: Counter[str] = Counter()
    judged: list[tuple[str, int]] = []
    known: list[tuple[str, int]] = []
    for item, outcome, states in found:
        checks.update(states)
        same = item.get("script") and item.get("refined") == item.get("script")
        said = finals.final(item, "script" if same else stage, criterion)
        side = said if said in (RIGHT, WRONG) else "open"
        confusion[side][outcome] += 1
        if outcome == "no_verdict":
            continue
        judged.append((words_of(item["statement"]), outcome == "passed"))
        if side == "open":
            continue
        agrees = (outcome == "passed") == (side == RIGHT)
        known.append((words_of(item["statement"]), agrees))
        if not agrees:
            labels = world.labels[item["id"], item["configuration"], stage]
            reasons.update(labels or {"not_said"})
    return {
        "execution_accuracy": _share(judged),
        "agreement": _share(known),
        "confusion": confusion,
        "differ": sum(not agrees for _statement, agrees in known),
        "reasons": {name: reasons[name] for name in (*LABELS, "not_said")},
        "checks": {name: count for name, count in sorted(checks.items()) if count},
        "without_verdict": len(found) - len(judged),
    }


def _share(rows: list[tuple[str, int]]) -> dict[str, Any]:
    return share_of(rows, repeats=len({statement for statement, _right in rows}) < len(rows))
