"""The section that compares Configurations, based on the cases that are final in both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from django.utils.translation import gettext as _

from review.report.charts.forest import Estimate, draw_forest
from review.report.charts.scale import scale_of_differences
from review.report.report_view import Json, ReportView
from review.report.sections.figures import is_closed, note_of
from review.report.sections.section import Block, Section
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.report.words import explain_p, say_interval, say_p, say_reason, say_share

KEY = "comparisons"


def show_comparisons(view: ReportView) -> Section | None:
    """Return a section with a table for each pair of Configurations. P values are shown after the study has closed."""
    found = view.details["comparisons"]
    if not found:
        return None
    blocks = [
        Block(
            _table(view, one, place),
            title=_("From %(first)s to %(second)s") % one,
            notes=sorted(
                {why for change in one[view.criterion.value].values() if (why := explain_p(change))}
            ),
        )
        for place, one in enumerate(found, start=1)
    ]
    blocks[-1] = replace(blocks[-1], notes=[*blocks[-1].notes, *_family(view)])
    return Section(
        KEY,
        _("Comparison of configurations"),
        blocks,
        summary=_("paired, on the same cases"),
        text=_(view.texts["comparison"]),
    )


def _family(view: ReportView) -> Iterator[str]:
    """Yield notes on the p values that Holm's correction covers."""
    said = view.details.get("p_values") or {}
    if not said.get("shown") or not said.get("family"):
        return
    if not said.get("fixed"):
        yield (
            _(
                "Holm’s correction covers all %s p values of this report, because no "
                "family was fixed when the study opened."
            )
            % f"{said['family']:,}"
        )
        return
    yield _(
        "Holm’s correction covers the %s comparisons that were fixed when the study opened."
    ) % (f"{said['family']:,}")
    if said["without"]:
        yield _("%s of them have no p value and count as 1.") % f"{said['without']:,}"
    if said.get("not_foreseen"):
        yield (
            _(
                "They exclude %s comparisons of refinements from experts’ feedback, because the study has none."
            )
            % f"{said['not_foreseen']:,}"
        )
    if said["later"]:
        yield _("%s of them were added later and are included.") % f"{said['later']:,}"


def _table(view: ReportView, one: Json, place: int) -> Table:
    rows = one[view.criterion.value]
    changes = {
        name: change
        for name in (figure["name"] for figure in view.definitions)
        if (change := rows.get(name)) is not None
        if change.get("is_part", True) and (change["items"] or change.get("open"))
    }
    scale = scale_of_differences(
        end
        for change in changes.values()
        for end in (change["value"], change["low"], change["high"])
    )
    closed = is_closed(view)
    has_holm = closed and any("p_holm" in change for change in changes.values())
    columns = [
        Column(_("Figure")),
        Column(_("Cases"), is_number=True),
        Column(_("Correct only with the first configuration"), is_number=True),
        Column(_("Correct only with the second configuration"), is_number=True),
        Column(_("Difference"), is_number=True),
        Column(_("95% interval"), is_number=True),
        Column(_("Chart"), is_drawing=True),
        *([Column("p", is_number=True)] if closed else []),
        *([Column(_("Adjusted p (Holm)"), is_number=True)] if has_holm else []),
        Column(_("Excluded"), is_number=True),
    ]
    cells = []
    for name, change in changes.items():
        # Show the reason if the comparison is not available.
        reason = say_reason(change) if change.get("reason") else ""
        value = say_share(change["value"], signed=True)
        interval = say_interval(change["low"], change["high"], signed=True)
        estimate = Estimate(
            1,
            f"{_(view.label(name))}: {value} ({interval})",
            change["value"],
            change["low"],
            change["high"],
        )
        drawn = draw_forest([(name, "", [estimate])], scale).rows
        row = [
            Cell(_(view.label(name)), note=_("primary") if change.get("is_primary") else ""),
            number(change["items"]),
            number(change["lost"]),
            number(change["gained"]),
            Cell(value, is_strong=True, note=reason),
            Cell(interval),
            Cell("", drawing=drawn[0] if drawn else None, zero=scale.zero),
        ]
        if closed:
            row.append(Cell(say_p(change["p_value"])))
        if has_holm:
            row.append(Cell(say_p(change.get("p_holm"))))
        cells.append([*row, number(change["left_out"])])
    caption = _("From %(first)s to %(second)s, %(criterion)s") % {
        "first": one["first"],
        "second": one["second"],
        "criterion": view.criterion.value,
    }
    return table_of(f"{KEY}-{place}", caption, columns, cells, note_of(view))
