"""The report as plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from review.report.report_view import SIGNED, show_figure
from review.report.words import say_coefficient, say_interval
from review.study import Criterion

_Json = Mapping[str, object]


def write_report(document: _Json) -> str:
    """Return all figures under both criteria, and the agreement at each stage, as text."""
    return (
        "\n".join(
            [
                f"{document['campaign']}: {document['items']} items{_mark(document)}",
                *_lines(document),
            ]
        )
        + "\n"
    )


def _mark(document: _Json) -> str:
    """Return the warning for campaigns that do not hide verdicts, or an empty string."""
    return "  (not blind)" if document.get("not_blind") else ""


def _lines(document: _Json) -> Iterator[str]:
    for arm in cast("list[_Json]", document["configurations"]):
        demo = "  (demo model)" if arm.get("demo") else ""
        for criterion in Criterion:
            yield f"\n{arm['name']}, {criterion.value}{demo}{_mark(document)}"
            for name, figure in cast("dict[str, _Json]", arm[criterion.value]).items():
                yield f"  {name:<28}{_say_figure(figure, signed=name in SIGNED)}"
    yield f"\nagreement{_mark(document)}"
    for stage, one in cast("dict[str, _Json]", document["agreement"]).items():
        why = f"  ({one['undefined']})" if one["undefined"] else ""
        alpha = _say_interval(one, "krippendorff_alpha")
        ac2 = say_coefficient(cast("float | None", one["ac2"]))
        yield f"  {stage:<10}{one['items']:>8} items  ordinal alpha {alpha}{why}, AC2 {ac2}"


def _say_figure(figure: _Json, *, signed: bool) -> str:
    """Return the ratio, value and interval of a figure as text. A range over all scored items replaces the value."""
    shown = show_figure(figure, signed=signed)
    is_empty = figure["value"] is None and not shown.is_range
    beside = figure["reason"] if is_empty else shown.interval
    said = f"{shown.ratio:>15}  {shown.value} ({beside})"
    if not figure["open"]:
        return said
    low, high = cast("list[float]", figure["bounds"] or [0.0, 0.0])
    left_out = f"  {figure['unresolved']} unresolved, {figure['pending']} pending"
    return f"{said}{left_out}: {say_interval(low, high, signed=signed)}"


def _say_interval(figure: _Json, key: str) -> str:
    value, low, high = (cast("float | None", figure[name]) for name in (key, "low", "high"))
    if value is None:
        return "–"
    return (
        f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"
    )
