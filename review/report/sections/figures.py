"""The section with all figures of each Configuration and their definitions."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from review.report.charts.forest import draw_forest
from review.report.charts.scale import scale_of_differences, scale_of_shares
from review.report.report_view import SIGNED, Json, ReportView, show_figure
from review.report.sections.figure_notes import is_part_of_study, notes_of
from review.report.sections.section import Block, Section, arm_cell, share_columns
from review.report.tables.table import Cell, Column, Group, Table, number

KEY = "figures"
# Figures of an oracle: an expert, instead of the assessor, decides which scripts to refine.
ORACLES = frozenset({"overall_expert_triggered"})


def show_figures(view: ReportView) -> Section | None:
    """Return the section with all figures that are part of this study. The other figures are listed in a note."""
    shown = [
        one
        for one in view.definitions
        if any(is_part_of_study(view.figure(place, one["name"])) for place in range(len(view.arms)))
    ]
    if not shown:
        return None
    missing = [_(one["label"]) for one in view.definitions if one not in shown]
    notes = []
    if missing:
        notes.append(_("Not part of this study: %s.") % ", ".join(missing))
    table = Table(
        KEY,
        _("Figures, %s") % view.criterion.value,
        [
            Column(_("Configuration")),
            *share_columns(),
            Column(_("Chart"), is_drawing=True),
            Column(_("Open"), is_number=True),
            Column(_("Also reported"), has_numbers=True),
        ],
        [_group(view, one) for one in shown],
        group_label=_("Figure"),
        note=note_of(view),
    )
    count = len(shown)
    return Section(
        KEY,
        _("Figures"),
        [Block(table, notes=notes)],
        summary=ngettext(
            "%s figure with its definition", "%s figures with their definitions", count
        )
        % count,
    )


def note_of(view: ReportView) -> str:
    """Return the warnings for the tables of this report, or an empty string."""
    said = []
    if not view.details.get("is_blind", True):
        said.append(_("not blind"))
    if any(arm.get("demo") for arm in view.arms):
        said.append(_("demo model"))
    return ", ".join(said)


def _group(view: ReportView, definition: Json) -> Group:
    name = definition["name"]
    signed = name in SIGNED
    figures = [view.figure(place, name) for place in range(len(view.arms))]
    scale = (
        scale_of_differences(
            end for one in figures for end in (one["value"], one["low"], one["high"])
        )
        if signed
        else scale_of_shares()
    )
    rows = []
    for place, (arm, figure) in enumerate(zip(view.arms, figures, strict=True)):
        shown = show_figure(figure, signed=signed)
        drawn = draw_forest([(name, "", [view.estimate(place, name)])], scale).rows
        rows.append(
            [
                arm_cell(arm),
                Cell(shown.ratio, url=view.link(arm["name"], figure=name)),
                Cell(shown.value, is_strong=True),
                Cell(shown.interval),
                Cell("", drawing=drawn[0] if drawn else None, zero=scale.zero),
                _open(view, arm, name, figure),
                Cell(" · ".join(notes_of(figure, is_closed=is_closed(view), signed=signed))),
            ]
        )
    return Group(
        rows,
        heading=_(definition["label"]),
        text=_(definition["text"]),
        key=name,
        is_primary=name == view.details["primary_figure"],
        badge=_("oracle (an expert decides what to refine)") if name in ORACLES else "",
    )


def _open(view: ReportView, arm: Json, name: str, figure: Json) -> Cell:
    """Return the number of open items with a link. In older snapshots, return the number of unresolved items."""
    count = figure.get("open", figure.get("unresolved", 0))
    return number(count, url=view.link(arm["name"], figure=name, which="open") if count else "")


def is_closed(view: ReportView) -> bool:
    """Return whether p values may be shown. Older documents always show them."""
    said = view.details.get("p_values")
    return said is None or bool(said["shown"])
