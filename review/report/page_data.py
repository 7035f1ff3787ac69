"""A report as its page shows it: under one criterion, figure by figure, with words and charts.

It reads the document alone, so that a live report and a snapshot of years ago look the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.study import Criterion

Json = Mapping[str, Any]  # a part of the document
ChartPoint = tuple[float, float | None, float | None]

SIGNED = ("net",)
# The stylesheet tells four lines of a chart apart.
MOST_LINES = 4
# Pairs of so many reviewers stand on the report itself, of more on a page of their own.
MOST_REVIEWERS = 8
BESIDE = {
    "repaired": gettext_lazy("repaired"),
    "repaired_right": gettext_lazy("repaired and right"),
    "failed": gettext_lazy("without a script, counted as wrong"),
    "pending": gettext_lazy("pending"),
    "unknown": gettext_lazy("unknown"),
    "never_assessed": gettext_lazy("never assessed"),
    "unscored": gettext_lazy("not scored"),
    "not_refined": gettext_lazy("not refined"),
    "not_recommended": gettext_lazy("without a recommendation"),
    "fixed": gettext_lazy("fixed"),
    "broken": gettext_lazy("broken"),
}
REASONS = {
    "different_interpretation": gettext_lazy("different interpretation"),
    "too_strict": gettext_lazy("too strict"),
    "wrong_expected_output": gettext_lazy("wrong expected output"),
    "other": gettext_lazy("other"),
    "not_said": gettext_lazy("no reason given yet"),
}
VERDICTS = {
    "correct": gettext_lazy("passed"),
    "incorrect": gettext_lazy("flagged"),
    "unknown": gettext_lazy("unknown"),
    "never_assessed": gettext_lazy("never assessed"),
}
STAGES = {
    "script": gettext_lazy("Script"),
    "feedback": gettext_lazy("Feedback"),
    "refined": gettext_lazy("Refined script"),
}


@dataclass(frozen=True)
class ShownShare:
    """A share with its interval; `low` to `high` and `percent` are for people, `left`, `right` and `at` places
    of 0 to 100 in its drawing. All None where nothing is counted.
    """

    numerator: int
    denominator: int
    value: float | None
    low: float | None
    high: float | None
    is_signed: bool = False

    @property
    def left(self) -> float:
        return self._place(self.low)

    @property
    def width(self) -> float:
        return round(self._place(self.high) - self._place(self.low), 3)

    @property
    def at(self) -> float:
        return self._place(self.value)

    def _place(self, value: float | None) -> float:
        return round(100 * ((value or 0) + 1) / 2 if self.is_signed else 100 * (value or 0), 3)

    @property
    def point(self) -> ChartPoint | None:
        return None if self.value is None else (self.value, self.low, self.high)


class ArmShare(NamedTuple):
    """One figure of one Configuration."""

    arm: Json
    share: ShownShare
    notes: list[str]


class FigureRow(NamedTuple):
    """One figure of all Configurations."""

    name: str
    label: str
    text: str
    is_primary: bool
    arms: list[ArmShare]


class PairRow(NamedTuple):
    """One figure of a second Configuration against a first."""

    label: str
    change: Json
    share: ShownShare


def show_share(share: Json, *, is_signed: bool = False) -> ShownShare:
    return ShownShare(
        share["numerator"],
        share["denominator"],
        share["value"],
        share["low"],
        share["high"],
        is_signed,
    )


def show_report(report: Json, criterion: Criterion) -> dict[str, object]:
    """The context of the page's body."""
    details = report["details"]
    arms = details["arms"]
    return {
        "report": report,
        "details": details,
        "criterion": criterion.value,
        "arms": arms,
        "texts": {name: _(text) for name, text in details["texts"].items()},
        "is_demo": any(arm["demo"] for arm in arms),
        "sums": _add_up(arms),
        "figures": list(_show_figures(report, criterion)),
        "comparisons": [
            _show_comparison(one, details, criterion) for one in details["comparisons"]
        ],
        "gains": [_show_gain(arm, criterion) for arm in arms],
        "cards": [_show_card(arm, report, criterion) for arm in arms],
        "executions": list(_show_executions(report, criterion)),
        "lengths": _show_lengths(arms, criterion),
        "experts": [_show_expert(arm, criterion) for arm in arms],
        "retrieved": [(arm, show_share(arm[criterion.value]["retrieved"])) for arm in arms],
        "agreement": [show_agreement(stage, one) for stage, one in report["agreement"].items()],
        "most_reviewers": MOST_REVIEWERS,
        "costs": [_show_cost(arm, details["costs"].get(arm["name"])) for arm in arms],
    }


def _add_up(arms: Sequence[Json]) -> dict[str, int]:
    names = ("all", "scored", "pending", "unresolved", "unscored", "failed", "retrieved")
    return {name: sum(arm["items"][name] for arm in arms) for name in names}


def _show_figures(report: Json, criterion: Criterion) -> Iterator[FigureRow]:
    details = report["details"]
    for figure in details["figures"]:
        name = figure["name"]
        arms = []
        for counted, arm in zip(report["configurations"], details["arms"], strict=True):
            found = counted[criterion.value][name]
            arms.append(
                ArmShare(arm, show_share(found, is_signed=name in SIGNED), list(_note(found)))
            )
        yield FigureRow(
            name, _(figure["label"]), _(figure["text"]), name == details["primary_figure"], arms
        )


def _note(figure: Json) -> Iterator[str]:
    """What stands beside a figure, in words."""
    if figure.get("p_value") is not None:
        yield _("p %s") % say_p(figure["p_value"])
    for key, words in BESIDE.items():
        if key in figure:
            yield f"{figure[key]:,} {words}"
    if (repaired := figure.get("repaired_as_wrong")) and figure.get("repaired"):
        yield _("%s with repaired counted as wrong") % say_percent(repaired["value"])
    for key, count in figure.get("reasons", {}).items():
        if count:
            yield f"{count:,} {REASONS[key]}"
    if figure["unresolved"]:
        yield _("%(count)s unresolved: %(wrong)s if wrong, %(right)s if right") % {
            "count": f"{figure['unresolved']:,}",
            "wrong": say_percent(figure["value_if_unresolved_wrong"]),
            "right": say_percent(figure["value_if_unresolved_right"]),
        }


def say_percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def say_p(value: float) -> str:
    return f"= {value:.4f}" if value >= 0.0001 else "< 0.0001"


def _show_comparison(one: Json, details: Json, criterion: Criterion) -> dict[str, object]:
    labels = {figure["name"]: _(figure["label"]) for figure in details["figures"]}
    rows = [
        PairRow(
            labels[name],
            change,
            ShownShare(
                change["gained"] - change["lost"],
                change["items"],
                change["value"],
                change["low"],
                change["high"],
                is_signed=True,
            ),
        )
        for name, change in one[criterion.value].items()
    ]
    return {"first": one["first"], "second": one["second"], "rows": rows}


def _show_gain(arm: Json, criterion: Criterion) -> dict[str, object]:
    rows = [
        row
        | {"by_expert": show_share(row["by_expert"]), "by_assessor": show_share(row["by_assessor"])}
        for row in arm[criterion.value]["gain"]
    ]
    names = {"by_expert": _("experts say wrong"), "by_assessor": _("assessor flags")}
    return {
        "arm": arm,
        "rows": rows,
        "places": [
            _("round %s") % row["round"] if row["round"] else _("first script") for row in rows
        ],
        "lines": [(label, [row[name].point for row in rows]) for name, label in names.items()],
    }


def _show_card(arm: Json, report: Json, criterion: Criterion) -> dict[str, object]:
    card = arm[criterion.value]["assessor"]
    figures = next(one for one in report["configurations"] if one["name"] == arm["name"])
    rows = [
        (label, card["right"].get(verdict, 0), card["wrong"].get(verdict, 0))
        for verdict, label in VERDICTS.items()
    ]
    return {
        "arm": arm,
        "recall": show_share(figures[criterion.value]["assessor_recall"]),
        "precision": show_share(figures[criterion.value]["assessor_precision"]),
        "missed": show_share(card["missed"]),
        "false_alarms": show_share(card["false_alarms"]),
        "rows": rows,
        "columns": [(str(label), [right, wrong]) for label, right, wrong in rows],
        "series": [_("right by experts"), _("wrong by experts")],
    }


def _show_executions(report: Json, criterion: Criterion) -> Iterator[dict[str, object]]:
    for one, arm in zip(report["configurations"], report["details"]["arms"], strict=True):
        figure = one[criterion.value]["execution_agreement"]
        if figure["denominator"]:
            reasons = [(key, REASONS[key], count) for key, count in figure["reasons"].items()]
            yield {"arm": arm, "share": show_share(figure), "reasons": reasons}


def _show_lengths(arms: Sequence[Json], criterion: Criterion) -> list[dict[str, object]]:
    """Charts of at most four Configurations each, with the table of their numbers."""
    counted = [
        (
            arm,
            [row | {"fixed": show_share(row["fixed"])} for row in arm[criterion.value]["lengths"]],
        )
        for arm in arms
        if any(row["fixed"]["denominator"] for row in arm[criterion.value]["lengths"])
    ]
    return [
        {
            "places": [_say_length(row) for row in counted[0][1]],
            "lines": [(arm["name"], [row["fixed"].point for row in rows]) for arm, rows in part],
            "rows": [(arm, rows) for arm, rows in part],
        }
        for start in range(0, len(counted), MOST_LINES)
        for part in [counted[start : start + MOST_LINES]]
    ]


def _say_length(row: Json) -> str:
    if row["most"] is None:
        return _("from %(words)s") % {"words": row["least"]}
    return f"{row['least']}–{row['most']}"


def _show_expert(arm: Json, criterion: Criterion) -> dict[str, object]:
    """The row without the scores of the feedback's authors, and the one with them."""
    found: dict[str, object] = {"arm": arm}
    for name in ("expert", "expert_by_all"):
        row = arm[criterion.value][name]
        found[name] = {
            "items": row["change"]["items"],
            "expert": show_share(row["expert"]),
            "model": show_share(row["model"]),
            "change": row["change"],
        }
    return found


def show_agreement(stage: str, one: Json) -> dict[str, object]:
    names = sorted({name for pair in one["pairs"] for name in (pair["a"], pair["b"])})
    pairs = {frozenset((pair["a"], pair["b"])): pair for pair in one["pairs"]}
    matrix = [
        (name, [pairs.get(frozenset((name, other))) if name != other else None for other in names])
        for name in names
    ]
    return {"key": stage, "label": STAGES[stage], "of": one, "names": names, "matrix": matrix}


def _show_cost(arm: Json, cost: Json | None) -> dict[str, object]:
    time = arm["time"]
    minutes = time["seconds"] / 60 / time["items"] if time["items"] else None
    return {"arm": arm, "cost": cost, "minutes": minutes, "timed": time["items"]}
