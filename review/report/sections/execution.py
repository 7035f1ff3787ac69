"""The section that compares execution with experts: sandbox results, imported results and causes of differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.http import urlencode
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from review.report.report_view import Json, ReportView
from review.report.sections.figure_notes import REASONS
from review.report.sections.figures import note_of
from review.report.sections.section import Block, Section, arm_cell, share_cells, share_columns
from review.report.tables.table import Cell, Column, Table, number, table_of
from review.study.execution import LABELS, NOT_SAID

KEY = "execution"
FIGURE = "execution_agreement"
STAGES = {"script": gettext_lazy("Script"), "refined": gettext_lazy("Refined")}
OUTCOMES = {
    "passed": gettext_lazy("All checks passed"),
    "failed": gettext_lazy("A check failed"),
    "no_verdict": gettext_lazy("No verdict"),
}
SIDES = {
    "right": gettext_lazy("Right according to experts"),
    "wrong": gettext_lazy("Wrong according to experts"),
    "open": gettext_lazy("No final score"),
}
LABEL_WORDS = {
    "case_wrong": gettext_lazy("test is wrong"),
    "interpretation": gettext_lazy("ambiguous request"),
    "output_too_strict": gettext_lazy("output check too strict"),
    "world_unlike_reality": gettext_lazy("unrealistic scenario"),
    "script_wrong": gettext_lazy("script is wrong"),
    NOT_SAID: gettext_lazy("no cause given yet"),
}
STATES = {
    "passed": gettext_lazy("passed"),
    "failed": gettext_lazy("failed"),
    "unstable": gettext_lazy("unstable"),
    "unsupported": gettext_lazy("unsupported"),
    "timed out": gettext_lazy("stopped at a limit"),
    "not run": gettext_lazy("not run"),
    "to_run": gettext_lazy("still to run"),
}
CHANGES = {
    "struck": gettext_lazy("removed"),
    "corrected": gettext_lazy("edited"),
    "added": gettext_lazy("added"),
}


def show_execution(view: ReportView) -> Section | None:
    """Return the section with the sandbox results, followed by the imported results."""
    found: Json = view.report.get("execution") or {}
    blocks = [*_ran_here(view, found), *_imported(view, found)]
    if not blocks:
        return None
    summary = _("where they differ, and why")
    return Section(KEY, _("Sandbox tests compared with experts"), blocks, summary=summary)


def _ran_here(view: ReportView, found: Json) -> Iterator[Block]:
    rows: Sequence[Json] = found.get("configurations", ())
    if not rows:
        return
    changed = [f"{count} {CHANGES[kind]}" for kind, count in sorted(found["case_changes"].items())]
    notes = [_("Reviewers changed tests: %s.") % ", ".join(changed)] if changed else []
    if at := parse_datetime(found.get("at", "")):
        notes.append(
            _("Computed in the background. Last update: %s.")
            % date_format(localtime(at), "Y-m-d H:i")
        )
    imported = sum(row["imported"] for row in rows)
    if imported:
        notes.append(
            _("The results of %s scripts were imported. These scripts were not run here.")
            % f"{imported:,}"
        )
    yield Block(
        _accuracy(view, rows),
        _("Execution accuracy in sandbox tests"),
        _(view.texts["execution"]),
        notes=notes,
    )
    if found.get("changed_by"):
        yield Block(
            _changes(view, found["changed_by"]),
            _("Test changes by reviewers"),
            _(
                "Shows how often each reviewer removed, edited or added tests. Select a number to see the reasons."
            ),
        )
    for place, row in enumerate(rows, 1):
        yield Block(
            _confusion(view, row, place),
            _("%(name)s, %(stage)s, sandbox tests compared with experts")
            % {"name": row["configuration"], "stage": STAGES[row["stage"]].lower()},
            _(view.texts["execution_confusion"]) if place == 1 else "",
        )
    if any(row[view.criterion.value]["differ"] for row in rows):
        yield Block(
            _reasons(view, rows),
            _("Causes of the differences, according to reviewers"),
            _(view.texts["execution_reasons"]),
        )


def _accuracy(view: ReportView, rows: Sequence[Json]) -> Table:
    has_imported = any(row["imported"] for row in rows)
    return table_of(
        f"{KEY}-accuracy",
        _("Execution accuracy and agreement with experts, %s") % view.criterion.value,
        [
            Column(_("Configuration")),
            Column(_("Script")),
            *share_columns(_("All checks passed / with a verdict")),
            *share_columns(_("Agree / both known")),
            Column(_("Without a verdict"), is_number=True),
            *([Column(_("Imported"), is_number=True)] if has_imported else []),
            Column(_("Checks")),
        ],
        [
            [
                arm_cell(_arm(view, row)),
                Cell(str(STAGES[row["stage"]])),
                *share_cells(part["execution_accuracy"], url=_link(view, row, execution="verdict")),
                *share_cells(part["agreement"], url=_link(view, row, execution="differ")),
                number(part["without_verdict"], url=_link(view, row, execution="no_verdict")),
                *([number(row["imported"])] if has_imported else []),
                Cell(", ".join(f"{n:,} {STATES.get(state, state)}" for state, n in _checks(part))),
            ]
            for row in rows
            for part in [row[view.criterion.value]]
        ],
        note_of(view),
    )


def _changes(view: ReportView, rows: Sequence[Json]) -> Table:
    def count(row: Json, kind: str) -> Cell:
        is_listed = view.changes_url and row[kind]
        query = urlencode({"kind": kind, "reviewer": row["reviewer"]})
        return number(row[kind], url=f"{view.changes_url}?{query}" if is_listed else "")

    return table_of(
        f"{KEY}-changes",
        _("Tests removed, edited and added, by reviewer"),
        [
            Column(_("Reviewer")),
            *(Column(str(one).capitalize(), is_number=True) for one in CHANGES.values()),
        ],
        [[Cell(row["reviewer"]), *(count(row, kind) for kind in CHANGES)] for row in rows],
        note_of(view),
    )


def _checks(part: Json) -> list[tuple[str, int]]:
    found: Json = part["checks"]
    return [(state, found[state]) for state in STATES if found.get(state)]


def _confusion(view: ReportView, row: Json, place: int) -> Table:
    found: Json = row[view.criterion.value]["confusion"]
    return table_of(
        f"{KEY}-confusion-{place}",
        _("Sandbox results for %(name)s, %(stage)s, compared with experts, %(criterion)s")
        % {
            "name": row["configuration"],
            "stage": STAGES[row["stage"]].lower(),
            "criterion": view.criterion.value,
        },
        [
            Column(_("Sandbox result")),
            *(Column(str(one), is_number=True) for one in SIDES.values()),
        ],
        [
            [
                Cell(str(label)),
                *(
                    number(
                        found[side][outcome],
                        url=_link(view, row, execution=outcome, side=side),
                    )
                    for side in SIDES
                ),
            ]
            for outcome, label in OUTCOMES.items()
        ],
        note_of(view),
    )


def _reasons(view: ReportView, rows: Sequence[Json]) -> Table:
    return table_of(
        f"{KEY}-reasons",
        _("Causes of the differences between sandbox tests and experts, %s") % view.criterion.value,
        [
            Column(_("Configuration")),
            Column(_("Script")),
            Column(_("Differ"), is_number=True),
            *(Column(str(one).capitalize(), is_number=True) for one in LABEL_WORDS.values()),
        ],
        [
            [
                arm_cell(_arm(view, row)),
                Cell(str(STAGES[row["stage"]])),
                number(part["differ"], url=_link(view, row, execution="differ")),
                *(
                    number(
                        part["reasons"][name],
                        url=_link(view, row, execution="differ", reason=name),
                    )
                    for name in (*LABELS, NOT_SAID)
                ),
            ]
            for row in rows
            for part in [row[view.criterion.value]]
            if part["differ"]
        ],
        note_of(view),
    )


def _imported(view: ReportView, found: Json) -> Iterator[Block]:
    rows: Sequence[Json] = found.get("intercode", ())
    if rows:
        yield Block(
            table_of(
                f"{KEY}-intercode",
                _("Imported execution results"),
                [Column(_("Configuration")), *share_columns(_("1.0 / with a result"))],
                [[arm_cell(_arm(view, row)), *share_cells(row["intercode"])] for row in rows],
                note_of(view),
            ),
            _("Imported results (intercode)"),
            _(view.texts["intercode"]),
        )
    # A report of the review queue has no figures for imported results.
    table = _imported_against_experts(view) if view.report.get("configurations") else None
    if table:
        yield Block(table, _("Imported results compared with experts"))


def _imported_against_experts(view: ReportView) -> Table:
    """Return one row for each Configuration with results. Managers enter the reasons in the list of items."""
    return table_of(
        KEY,
        _("Imported execution results compared with experts, %s") % view.criterion.value,
        [
            Column(_("Configuration")),
            *share_columns(_("Agree / both known")),
            *(Column(str(label).capitalize(), is_number=True) for label in REASONS.values()),
        ],
        [
            [
                arm_cell(arm),
                *share_cells(figure, url=view.link(arm["name"], figure=FIGURE, which="rest")),
                *(number(figure["reasons"].get(key, 0)) for key in REASONS),
            ]
            for place, arm in enumerate(view.arms)
            for figure in [view.figure(place, FIGURE)]
            if figure["denominator"]
        ],
        note_of(view),
    )


def _arm(view: ReportView, row: Json) -> Json:
    known = (arm for arm in view.arms if arm["name"] == row["configuration"])
    return next(known, {"name": row["configuration"]})


def _link(view: ReportView, row: Json, **which: str) -> str:
    return view.link(row["configuration"], stage=row["stage"], **which)
