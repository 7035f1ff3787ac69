"""Agreement between reviewers at each stage: all measures, each pair, and each reviewer's leniency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.report.charts.forest import Estimate, ForestRow, draw_forest
from review.report.charts.heat import HeatRow, Pair, draw_heat
from review.report.charts.scale import scale_of_differences
from review.report.report_view import Json, ReportView
from review.report.sections.figures import note_of
from review.report.sections.section import Block, Section, arm_cell
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.report.words import NOTHING, say_coefficient, say_coefficients, say_share
from review.study.agreement import LENIENCY_TEXT

KEY = "agreement"
# With more reviewers than this, the pairs have their own page and are not in the report itself.
MOST_REVIEWERS = 8
STAGES = {
    "script": gettext_lazy("Script"),
    "feedback": gettext_lazy("Feedback"),
    "refined": gettext_lazy("Refined script"),
}
_MEASURES = {
    "krippendorff_alpha": gettext_lazy("Krippendorff’s alpha, ordinal"),
    "ac2": gettext_lazy("Gwet’s AC2, ordinal weights"),
    "alpha_nominal": gettext_lazy("Alpha, nominal"),
    "alpha_interval": gettext_lazy("Alpha, interval"),
    "percent": gettext_lazy("Agreeing pairs as a share of all pairs of scores"),
    "ac1": gettext_lazy("Gwet’s AC1, strict"),
    "fleiss_kappa": gettext_lazy("Fleiss’ kappa"),
    "cohen_kappa": gettext_lazy("Cohen’s kappa"),
    "linear_kappa": gettext_lazy("Weighted kappa, linear"),
    "weighted_kappa": gettext_lazy("Weighted kappa, quadratic"),
}
_PAIR_KAPPAS = ("cohen_kappa", "linear_kappa", "weighted_kappa")


def show_agreement(view: ReportView) -> Section | None:
    """Return the section for the stages that two reviewers have scored. The other stages are listed in a note."""
    scored = {key: one for key, one in view.agreement.items() if one["items"]}
    if not scored:
        return None
    blocks = []
    for stage, one in scored.items():
        blocks.append(_measures(view, stage, one))
        if len(names_of(one)) <= MOST_REVIEWERS:
            blocks += pair_blocks(stage, one, note_of(view))
    if (by_arm := _by_arm(view)) is not None:
        blocks.append(by_arm)
    missing = [str(label) for key, label in STAGES.items() if key not in scored]
    if missing:
        blocks.append(
            Block(notes=[_("Not scored by two reviewers: %s.") % ", ".join(missing)]),
        )
    return Section(
        KEY,
        _("Agreement between reviewers"),
        blocks,
        summary=", ".join(str(STAGES[stage]) for stage in scored),
        text=_(view.texts["agreement"]),
    )


def _by_arm(view: ReportView) -> Block | None:
    """Return the main coefficients of each Configuration, or None if the study has only one."""
    rows = [
        [
            arm_cell(arm),
            Cell(str(STAGES[stage])),
            number(one["items"]),
            Cell(say_coefficient(one["krippendorff_alpha"]), is_strong=True),
            Cell(say_coefficients(one["low"], one["high"])),
            Cell(say_share(one["percent"])),
            Cell(say_coefficient(one.get("ac2"))),
            Cell(say_coefficient(one.get("ac1"))),
        ]
        for counted, arm in zip(view.report["configurations"], view.arms, strict=True)
        for stage in STAGES
        if (one := (counted.get("agreement") or {}).get(stage)) and one["items"]
    ]
    if len(view.arms) < 2 or not rows:
        return None
    columns = [
        Column(_("Configuration")),
        Column(_("Stage")),
        Column(_("Items"), is_number=True),
        Column(_("Alpha, ordinal"), is_number=True),
        Column(_("95% interval"), is_number=True),
        Column(_("Percent"), is_number=True),
        Column(_("AC2, ordinal"), is_number=True),
        Column(_("AC1, strict"), is_number=True),
    ]
    table = table_of(
        f"{KEY}-by-configuration", _("Agreement by configuration"), columns, rows, note_of(view)
    )
    return Block(table, _("By configuration"))


def names_of(one: Json) -> list[str]:
    """Return the names of the reviewers who share items with another reviewer at a stage."""
    return sorted({name for pair in one["pairs"] for name in (pair["a"], pair["b"])})


@dataclass(frozen=True)
class HeatLine:
    """A reviewer's row of the heat map, and the reviewer's leniency as text and as a mark."""

    row: HeatRow
    leniency: str
    mark: ForestRow | None


@dataclass(frozen=True)
class HeatMap:
    """The quadratic weighted kappa of each pair of reviewers. `zero` is the position of a leniency of 0."""

    names: Sequence[str]
    lines: Sequence[HeatLine]
    zero: float | None
    has_leniency: bool


def heat_of(one: Json) -> HeatMap:
    """Return the heat map of a stage's reviewers."""
    pairs = [
        Pair(pair["a"], pair["b"], pair["weighted_kappa"], _say_pair(pair)) for pair in one["pairs"]
    ]
    leniency = {row["reviewer"]: row for row in one.get("leniency") or []}
    scale = scale_of_differences(
        (end for row in leniency.values() for end in (row["value"], row["low"], row["high"])),
        is_share=False,
    )
    names = names_of(one)
    lines = []
    for row in draw_heat(names, pairs):
        found = leniency.get(row.name)
        value, low, high = (
            (found[key] for key in ("value", "low", "high")) if found else (None,) * 3
        )
        title = f"{row.name}: {say_points(value)}"
        if low is not None:
            title += f" ({_points_between(low, high)})"
        drawn = draw_forest([(row.name, "", [Estimate(1, title, value, low, high)])], scale).rows
        lines.append(HeatLine(row, say_points(value), drawn[0] if drawn else None))
    return HeatMap(names, lines, scale.zero, has_leniency=bool(leniency))


def _say_pair(pair: Json) -> str:
    return _(
        "%(a)s and %(b)s: weighted kappa %(kappa)s, %(percent)s equal scores, %(items)s items"
    ) % {
        "a": pair["a"],
        "b": pair["b"],
        "kappa": say_coefficient(pair["weighted_kappa"]),
        "percent": say_share(pair["percent"]),
        "items": f"{pair['items']:,}",
    }


def pair_blocks(stage: str, one: Json, note: str) -> Iterator[Block]:
    """Yield the blocks with all measures of each pair and the leniency of each reviewer."""
    label = str(STAGES[stage])
    if one["pairs"]:
        yield Block(_pairs(stage, one, note), _("%s: by pair") % label)
    if one.get("leniency"):
        title = _("%s: leniency by reviewer") % label
        yield Block(_leniency(stage, one, note), title, _(LENIENCY_TEXT))


def _measures(view: ReportView, stage: str, one: Json) -> Block:
    intervals = dict(one.get("intervals") or {})
    intervals.setdefault("krippendorff_alpha", [one["low"], one["high"]])
    is_mean = one.get("kappa_basis", "pair") != "pair"
    rows = []
    for key, label in _MEASURES.items():
        if key not in one or (one[key] is None and key != "krippendorff_alpha"):
            continue
        interval = _ends(intervals.get(key))
        mean = _("mean over pairs with at least 20 shared items")
        rows.append(
            [
                Cell(str(label), note=mean if is_mean and key in _PAIR_KAPPAS else ""),
                Cell(
                    say_share(one[key]) if key == "percent" else say_coefficient(one[key]),
                    is_strong=key == "krippendorff_alpha",
                ),
                Cell(
                    _percents(interval) if key == "percent" else say_coefficients(*interval),
                ),
            ]
        )
    caption = _("Agreement at the %(stage)s stage, %(items)s items with multiple scores") % {
        "stage": STAGES[stage],
        "items": f"{one['items']:,}",
    }
    columns = [
        Column(_("Measure")),
        Column(_("Value"), is_number=True),
        Column(_("95% interval"), is_number=True),
    ]
    notes = [_(one["undefined"])] if one["undefined"] else []
    if reason := one.get("no_interval"):
        notes.append(_("No interval: %s.") % _(reason))
    url = view.items_url and f"pairs/{stage}/"
    many = len(names_of(one)) > MOST_REVIEWERS
    return Block(
        table_of(f"{KEY}-{stage}", caption, columns, rows, note_of(view)),
        str(STAGES[stage]),
        notes=notes,
        url=url if many else "",
        url_label=_("All %s pairs of reviewers") % f"{len(one['pairs']):,}",
    )


def _ends(interval: object) -> tuple[float | None, float | None]:
    if isinstance(interval, list | tuple) and len(interval) == 2:
        return interval[0], interval[1]
    return None, None


def _percents(interval: tuple[float | None, float | None]) -> str:
    low, high = interval
    if low is None or high is None:
        return NOTHING
    return f"{100 * low:.1f} to {100 * high:.1f}%"


def _pairs(stage: str, one: Json, note: str) -> Table:
    return table_of(
        f"pairs-{stage}",
        _("All measures of each pair, %s") % str(STAGES[stage]).lower(),
        [
            Column(_("Pair")),
            Column(_("Items"), is_number=True),
            Column(_("Percent"), is_number=True),
            Column(_("Kappa"), is_number=True),
            Column(_("Linear"), is_number=True),
            Column(_("Quadratic"), is_number=True),
            Column(_("Strict"), is_number=True),
            Column(_("Partial"), is_number=True),
        ],
        [
            [
                Cell(f"{pair['a']}, {pair['b']}"),
                number(pair["items"]),
                Cell(say_share(pair["percent"])),
                *(Cell(say_coefficient(pair[name])) for name in _PAIR_KAPPAS),
                *(
                    Cell(
                        say_coefficient(pair[f"{name}_kappa"]),
                        note=say_share(pair[f"{name}_percent"]),
                    )
                    for name in ("strict", "partial")
                ),
            ]
            for pair in one["pairs"]
        ],
        note,
    )


def _leniency(stage: str, one: Json, note: str) -> Table:
    return table_of(
        f"leniency-{stage}",
        _("Leniency: mean difference from other reviewers on shared items, %s")
        % str(STAGES[stage]).lower(),
        [
            Column(_("Reviewer")),
            Column(_("Shared items"), is_number=True),
            Column(_("Leniency"), is_number=True),
            Column(_("95% interval"), is_number=True),
        ],
        [
            [
                Cell(row["reviewer"]),
                number(row["items"]),
                Cell(say_points(row["value"]), is_strong=True),
                Cell(_points_between(row["low"], row["high"])),
            ]
            for row in one["leniency"]
        ],
        note,
    )


def say_points(value: float | None) -> str:
    """Format a difference between mean scores with its sign."""
    return NOTHING if value is None else f"{value:+.2f}".replace("-", "−")


def _points_between(low: float | None, high: float | None) -> str:
    return (
        NOTHING
        if low is None
        else _("%(low)s to %(high)s")
        % {
            "low": say_points(low),
            "high": say_points(high),
        }
    )
