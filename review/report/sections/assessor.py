"""The section that compares the assessor's verdicts with the experts' scores."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.report.report_view import Json, ReportView
from review.report.sections.figures import note_of
from review.report.sections.section import Block, Section, share_cells, share_columns
from review.report.tables.table import Cell, Column, Table, number, table_of

KEY = "assessor"
VERDICTS = {
    "correct": gettext_lazy("passed"),
    "incorrect": gettext_lazy("flagged"),
    "unknown": gettext_lazy("unknown"),
    "never_assessed": gettext_lazy("never assessed"),
}


def show_assessor(view: ReportView) -> Section | None:
    """Return a section with a block for each Configuration that has an assessor."""
    blocks = []
    for place, arm in enumerate(view.arms):
        if has_assessor(view, arm):
            blocks.append(Block(_table(view, arm, place), title=arm["name"], arm=arm))
            blocks.append(Block(_rates(view, arm, place)))
    if not blocks:
        return None
    return Section(
        KEY,
        _("Assessor compared with experts"),
        blocks,
        summary=_("verdicts and experts’ scores"),
        text=_(view.texts["assessor"]),
    )


def has_assessor(view: ReportView, arm: Json) -> bool:
    """Return whether any scored item of the Configuration was assessed."""
    card = view.part(arm, "assessor")
    return any(
        card[side].get(verdict) for side in ("right", "wrong") for verdict in list(VERDICTS)[:3]
    )


def _table(view: ReportView, arm: Json, place: int) -> Table:
    card = view.part(arm, "assessor")
    rows = [
        [
            Cell(str(label)),
            number(card["right"].get(verdict, 0), url=_link(view, arm, verdict, "right")),
            number(card["wrong"].get(verdict, 0), url=_link(view, arm, verdict, "wrong")),
        ]
        for verdict, label in VERDICTS.items()
        if verdict in ("correct", "incorrect")
        or card["right"].get(verdict)
        or card["wrong"].get(verdict)
    ]
    return table_of(
        f"{KEY}-{place + 1}",
        _("Verdicts for %(name)s compared with experts, %(criterion)s")
        % {"name": arm["name"], "criterion": view.criterion.value},
        [
            Column(_("Verdict")),
            Column(_("Right according to experts"), is_number=True),
            Column(_("Wrong according to experts"), is_number=True),
        ],
        rows,
        note_of(view),
    )


def _link(view: ReportView, arm: Json, verdict: str, side: str) -> str:
    return view.link(arm["name"], cell=f"{verdict}-{side}")


def _rates(view: ReportView, arm: Json, place: int) -> Table:
    card = view.part(arm, "assessor")
    recall, precision = (view.figure(place, f"assessor_{name}") for name in ("recall", "precision"))
    shares = {
        _("Wrong scripts flagged (recall)"): recall,
        _("Wrong scripts passed (share of judged scripts)"): card["missed"],
        _("Right scripts flagged (share of judged scripts)"): card["false_alarms"],
        _("Flagged scripts that are wrong (precision)"): precision,
        _("Scored scripts passed or flagged (coverage)"): recall.get("coverage"),
    }
    return table_of(
        f"{KEY}-{place + 1}-rates",
        _("Assessor performance for %(name)s, %(criterion)s")
        % {"name": arm["name"], "criterion": view.criterion.value},
        [Column(_("Rate")), *share_columns()],
        [
            [Cell(label), *share_cells(share)]
            for label, share in shares.items()
            if share and share["denominator"]
        ],
        note_of(view),
    )
