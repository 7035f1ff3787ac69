"""The section on feedback: how often feedback from experts and from the model produced a correct script."""

from __future__ import annotations

from django.utils.translation import gettext as _

from review.report.report_view import Json, ReportView
from review.report.sections.figures import is_closed, note_of
from review.report.sections.section import (
    Block,
    LineChart,
    Section,
    arm_cell,
    share_cells,
    share_columns,
)
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.report.words import NOTHING, explain_p, say_interval, say_p, say_ratio, say_share

KEY = "feedback"
MOST_LINES = 4  # the style sheet distinguishes up to four lines per chart


def show_feedback(view: ReportView) -> Section | None:
    """Return the section with up to three tables: by feedback length, by author, and for catalogue answers."""
    blocks = [*_lengths(view), *_experts(view), *_retrieved(view)]
    if not blocks:
        return None
    return Section(
        KEY, _("Feedback"), blocks, summary=", ".join(block.title.lower() for block in blocks)
    )


def _lengths(view: ReportView) -> list[Block]:
    counted = [
        (arm, rows)
        for arm in view.arms
        for rows in [view.part(arm, "lengths")]
        if any(row["fixed"]["denominator"] for row in rows)
    ]
    if not counted:
        return []
    places = [_say_length(row) for row in counted[0][1]]
    table = table_of(
        "lengths",
        _("Share corrected, by feedback length in words, %s") % view.criterion.value,
        [
            Column(_("Configuration")),
            *(Column(_("%s words") % place, is_number=True) for place in places),
        ],
        [[arm_cell(arm), *(_length_cell(row) for row in rows)] for arm, rows in counted],
        note_of(view),
    )
    lines = [(arm["name"], [_point(row["fixed"]) for row in rows]) for arm, rows in counted]
    chart = LineChart(lines[:MOST_LINES], places, _("Share corrected, by feedback length"))
    return [Block(table, _("By length (words)"), _(view.texts["lengths"]), chart=chart)]


def _length_cell(row: Json) -> Cell:
    share = row["fixed"]
    if not share["denominator"]:
        return Cell(NOTHING)
    unscored = row.get("unscored") or row.get("open") or 0
    return Cell(
        say_ratio(share["numerator"], share["denominator"]),
        note=_("%s not scored") % unscored if unscored else "",
    )


def _point(share: Json) -> tuple[float, float | None, float | None] | None:
    return None if share["value"] is None else (share["value"], share["low"], share["high"])


def _say_length(row: Json) -> str:
    if row["most"] is None:
        return _("from %(words)s") % {"words": row["least"]}
    return f"{row['least']}–{row['most']}"


def _experts(view: ReportView) -> list[Block]:
    found = [
        (arm, *(view.part(arm, name) for name in ("expert", "expert_by_all"))) for arm in view.arms
    ]
    found = [one for one in found if one[1]["change"]["items"] or one[2]["change"]["items"]]
    if not found:
        return []
    closed = is_closed(view)
    table = table_of(
        "expert-feedback",
        _("Refinement from experts’ feedback and from the model’s, %s") % view.criterion.value,
        [
            Column(_("Configuration")),
            Column(_("Items with both"), is_number=True),
            Column(_("Right, experts’ feedback"), is_number=True),
            Column(_("Right, model’s feedback"), is_number=True),
            Column(_("Difference"), is_number=True),
            Column(_("95% interval"), is_number=True),
            *([Column("p", is_number=True)] if closed else []),
            Column(_("With the authors’ own scores"), is_number=True),
        ],
        [_expert_row(arm, row, by_all, closed=closed) for arm, row, by_all in found],
        note_of(view),
    )
    who = _(
        "Scripts refined from an expert’s feedback are scored by the item’s other "
        "reviewers, after they have scored all stages of the model’s feedback. Reviewers who had "
        "finished the item before the script was written do not score it. If there "
        "are several such scripts, the earliest is scored."
    )
    whys = {why for _arm, row, _by_all in found if (why := explain_p(row["change"]))}
    title, text = _("Expert feedback compared with model feedback"), _(view.texts["expert"])
    return [Block(table, title, text, notes=[who, *whys])]


def _expert_row(arm: Json, row: Json, by_all: Json, *, closed: bool) -> list[Cell]:
    change = row["change"]
    return [
        arm_cell(arm),
        number(change["items"]),
        Cell(say_share(row["expert"]["value"])),
        Cell(say_share(row["model"]["value"])),
        Cell(say_share(change["value"], signed=True), is_strong=True),
        Cell(say_interval(change["low"], change["high"], signed=True)),
        *([Cell(say_p(change["p_value"]))] if closed else []),
        Cell(f"{say_share(by_all['expert']['value'])} ({by_all['change']['items']:,})"),
    ]


def _retrieved(view: ReportView) -> list[Block]:
    found = [(arm, view.part(arm, "retrieved")) for arm in view.arms if arm["items"]["retrieved"]]
    if not found:
        return []
    table: Table = table_of(
        "retrieved",
        _("Answered from the catalogue, %s") % view.criterion.value,
        [Column(_("Configuration")), *share_columns()],
        [[arm_cell(arm), *share_cells(share)] for arm, share in found],
        note_of(view),
    )
    return [Block(table, _("Answered from the catalogue"), _(view.texts["retrieved"]))]
