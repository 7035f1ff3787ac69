"""The tables of the threats to validity. Users can copy them like the report's other tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.campaigns.services.rubrics import WHAT
from review.models import Campaign, ReportLook
from review.report.charts.forest import Estimate, draw_forest
from review.report.charts.scale import scale_of_shares
from review.report.report_view import Json, ReportView
from review.report.sections.assessor import VERDICTS
from review.report.sections.figures import is_closed, note_of
from review.report.sections.section import arm_cell, share_cells, share_columns
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.report.words import (
    explain_p,
    say_coefficient,
    say_interval,
    say_p,
    say_ratio,
    say_share,
)

HOW = {"skipped": gettext_lazy("skipped"), "cannot_judge": gettext_lazy("could not judge")}


def threat_tables(view: ReportView, threats: Json) -> dict[str, Table]:
    """Return the tables that have rows, by name. In URLs, the names start with `threat-`."""
    made = (
        _halo(view, threats.get("halo")),
        _drift(view, threats),
        _repeats(view, threats["repeats"]),
        _rubric(view, threats.get("rubric")),
        _skips(view, threats["skips"]),
        _bounds(view),
        _closings(view, threats["looks"].get("closings", ())),
        _looks(view, threats["looks"]["newest"]),
    )
    return {table.key.removeprefix("threat-"): table for table in made if table}


def _table(
    view: ReportView, key: str, caption: str, columns: list[Column], rows: Sequence[Sequence[Cell]]
) -> Table | None:
    return table_of(f"threat-{key}", caption, columns, rows, note_of(view)) if rows else None


def _numbers(*labels: str) -> Iterator[Column]:
    return (Column(label, is_number=True) for label in labels)


def _halo(view: ReportView, halo: Json | None) -> Table | None:
    """Return the halo check's table, or None if no scores were compared. Older snapshots have no halo check."""
    if not halo or not halo["compared"]:
        return None
    found = halo[view.criterion.value]
    holm = (view.details.get("halo") or {}).get(view.criterion.value, {}).get("p_holm")
    # P values are hidden until the study has ended.
    with_p = is_closed(view) and found["p_value"] is not None
    return _table(
        view,
        "halo",
        _("Usual score of the refined script compared with the other reviewer’s score, %s")
        % view.criterion.value,
        [
            *_numbers(
                _("Scripts"),
                _("Right only if known to be refined"),
                _("Right only if shown as a first draft"),
                _("Difference"),
                _("95% interval"),
            ),
            *(_numbers("p", _("Adjusted p (Holm)")) if with_p else ()),
        ],
        [
            [
                number(found["items"]),
                number(found["lost"]),
                number(found["gained"]),
                Cell(say_share(found["value"], signed=True), is_strong=True),
                Cell(say_interval(found["low"], found["high"], signed=True)),
                *(
                    [Cell(say_p(found["p_value"]), note=explain_p(found)), Cell(say_p(holm))]
                    if with_p
                    else []
                ),
            ]
        ],
    )


def _drift(view: ReportView, threats: Json) -> Table | None:
    rows = [
        [
            Cell(label),
            *(Cell(f"{_ratio(share)}, {say_share(share['value'])}") for share in shares),
        ]
        for key, label in (
            ("sitting", _("of each session")),
            ("position", _("of each reviewer’s work in the study")),
        )
        for shares in [threats[key][view.criterion.value]]
        if any(share["denominator"] for share in shares)
    ]
    return _table(
        view,
        "drift",
        _("Scripts scored right, by quarter (at least four scores)"),
        [Column(_("Scores")), *_numbers(*name_quarters())],
        rows,
    )


def name_quarters() -> list[str]:
    return [_("1st quarter"), _("2nd quarter"), _("3rd quarter"), _("4th quarter")]


def _repeats(view: ReportView, repeats: Json) -> Table | None:
    """Return a table with a row for all reviewers and a row for each reviewer, or None if no item was repeated."""
    if not repeats["all"]["share"]["denominator"]:
        return None
    scale = scale_of_shares()
    rows = []
    for row in [repeats["all"] | {"reviewer": _("all reviewers")}, *repeats["reviewers"]]:
        share = row["share"]
        title = f"{row['reviewer']}: {say_share(share['value'])}"
        estimate = Estimate(1, title, share["value"], share["low"], share["high"])
        drawn = draw_forest([("repeats", "", [estimate])], scale).rows
        rows.append(
            [
                Cell(row["reviewer"]),
                *share_cells(share),
                Cell("", drawing=drawn[0] if drawn else None),
                Cell(say_coefficient(row["kappa"])),
            ]
        )
    return _table(
        view,
        "repeats",
        _("Hidden repeats with the same score"),
        [
            Column(_("Reviewer")),
            *share_columns(),
            Column(_("Chart"), is_drawing=True),
            *_numbers(_("Test-retest kappa")),
        ],
        rows,
    )


def _rubric(view: ReportView, rubric: Json | None) -> Table | None:
    """Return the table of rubric versions, or None if only one version exists."""
    versions = rubric["versions"] if rubric else []
    if len(versions) < 2:
        return None
    rows = []
    for place, one in enumerate(versions):
        said = [
            f"{WHAT[choice['what']]}: {choice['by']}, {_when(choice['at'])}"
            + (f"; {choice['why']}" if choice["why"] else "")
            for choice in one["choices"]
        ]
        if not said and not place and rubric and rubric["undecided"]:
            said = [_("undecided")]
        rows.append(
            [
                number(one["number"]),
                Cell(_when(one["at"])),
                number(one["scores"]),
                Cell("; ".join(said) or "–"),
            ]
        )
    columns = [Column(_("Version")), Column(_("Written")), *_numbers(_("Scores"))]
    return _table(
        view, "rubric", _("Rubric versions"), [*columns, Column(_("Earlier scores"))], rows
    )


def _skips(view: ReportView, rows: Sequence[Json]) -> Table | None:
    """Return the table of skipped and can't-judge items, by Configuration, reviewer and verdict."""
    found: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows:
        found[row["configuration"], row["reviewer"], row["verdict"], row["how"]] += row["items"]
    return _table(
        view,
        "skips",
        _("Items that were skipped or could not be judged"),
        [
            *(
                Column(label)
                for label in (
                    _("Configuration"),
                    _("Reviewer"),
                    _("Verdict"),
                    _("Action"),
                )
            ),
            *_numbers(_("Count")),
        ],
        [
            [
                Cell(configuration),
                Cell(reviewer),
                Cell(str(VERDICTS[verdict or "never_assessed"])),
                Cell(str(HOW[how])),
                number(items),
            ]
            for (configuration, reviewer, verdict, how), items in sorted(found.items())
        ],
    )


def _bounds(view: ReportView) -> Table | None:
    rows = []
    for arm in view.arms:
        skipped = view.part(arm, "skipped")
        shares = (skipped["wrong"], skipped["right"])
        rows.append(
            [arm_cell(arm), *(Cell(f"{_ratio(one)}, {say_share(one['value'])}") for one in shares)]
        )
    return _table(
        view,
        "skip-bounds",
        _("First-pass accuracy if all items that are still skipped were wrong or right, %s")
        % view.criterion.value,
        [Column(_("Configuration")), *_numbers(_("All wrong"), _("All right"))],
        rows,
    )


def _closings(view: ReportView, rows: Sequence[Json]) -> Table | None:
    return _table(
        view,
        "closings",
        _("Closed and reopened"),
        [Column(_("When")), Column(_("Who")), Column(_("Change"))],
        [
            [
                Cell(_when(row["at"])),
                Cell(row["by"] or _("command line")),
                Cell(
                    _("closed (p values are shown)")
                    if row["closed"]
                    else _("reopened (p values are hidden but have been seen)")
                ),
            ]
            for row in rows
        ],
    )


def _looks(view: ReportView, rows: Sequence[Json]) -> Table | None:
    """Return the table of views. Older snapshots contain only views of the live report while the campaign was open."""
    what, states = dict(ReportLook.What.choices), dict(Campaign.State.choices)
    return _table(
        view,
        "looks",
        _("View log"),
        [
            Column(_("When")),
            Column(_("Who")),
            Column(_("Viewed")),
            Column(_("Study state")),
            *_numbers(_("Items scored")),
        ],
        [
            [
                Cell(_when(row["at"])),
                Cell(row["by"] or _("command line")),
                Cell(str(what[row.get("what") or ReportLook.What.REPORT.value])),
                Cell(str(states[row["state"]]).lower() if row.get("state") else _("not closed")),
                number(row["scored"]),
            ]
            for row in rows
        ],
    )


def _ratio(share: Json) -> str:
    return say_ratio(share["numerator"], share["denominator"])


def _when(text: str) -> str:
    at = parse_datetime(text)
    return f"{at:%Y-%m-%d %H:%M}" if at else ""
