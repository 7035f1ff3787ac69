"""The scripts on the review page: the script in view, the script it is compared with, and links to other scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from catalog.analysis import Placed, new_and_gone
from pipeline.models import Draft, DraftFinding
from pipeline.types import Arm
from review.blinding.item_view import ItemView, Step
from review.desk.views.decision_data import ShownDraft
from review.models import Score


class Choice(TypedDict):
    label: str
    name: str  # the name that keyboard shortcuts use; empty if the script has only a number
    number: int
    url: str
    current: bool


@dataclass(frozen=True)
class PaneSelection:
    """The reviewer's selection: the numbers of the Drafts to show, and the stage to score again."""

    show: int = 0
    against: int = -1  # 0 for no comparison; -1 for the stage's default
    side: bool = False
    change: str = ""
    page: str = ""  # URL of the item's page, if the links are shown on another page


@dataclass(frozen=True)
class Pane:
    """The script in view, the script it is compared with, and links to the other scripts."""

    shown: ShownDraft
    against: ShownDraft | None
    side: bool
    scripts: Sequence[Choice]
    # Links that compare the script in view with the original. If the original is in view, they compare the newest
    # script.
    differences: Sequence[Choice]
    findings: Sequence[ComparedFinding]
    # Findings of the original that the script in view no longer has.
    gone: Sequence[ComparedFinding]

    @property
    def new(self) -> list[ComparedFinding]:
        """Return the findings of the script in view that the original does not have."""
        return [one for one in self.findings if one.change == "new"]


@dataclass(frozen=True)
class ComparedFinding:
    """A finding on the review page. `change` has the same values as in `ShownFinding`."""

    check_name: str
    outcome: str
    line: int | None
    level: str
    code: str
    message: str
    change: str = ""


def read_selection(query: Mapping[str, str]) -> PaneSelection:
    """Return the selection from a query string or form. Invalid parts are ignored."""

    def whole(name: str, missing: int) -> int:
        value = query.get(name, "")
        return int(value) if value.isdecimal() and len(value) < 6 else missing

    return PaneSelection(
        show=whole("show", 0),
        against=whole("against", -1),
        side=query.get("side") == "1",
        change=query.get("change", ""),
    )


def visible_drafts(desk: ItemView) -> list[ShownDraft]:
    """Return the Drafts whose stage is open, and the edited Draft.

    In the review queue, a closed item shows all Drafts.
    """
    steps = {step.draft.pk: step for step in desk.steps if step.draft}
    edited = desk.decision.edited if desk.decision else None
    drafts = [*desk.drafts]
    if edited is not None and edited not in drafts:
        drafts.append(edited)
    shown: list[ShownDraft] = []
    for draft in drafts:
        step = steps.get(draft.pk)
        if (
            step is None
            and draft != edited
            and not (desk.is_closed and desk.visible["feedback"] and desk.item.campaign.is_live)
        ):
            continue
        shown.append(
            ShownDraft(
                draft=draft,
                number=len(shown) + 1,
                label=_label(desk, draft, len(shown) + 1),
                findings=desk.findings.get(draft.pk, []),
                score=desk.scores.get(step.key) if step else None,
            )
        )
    # Label a single script "Script", not "Original".
    return shown if len(shown) > 1 else [replace(one, label=_("Script")) for one in shown]


def _label(desk: ItemView, draft: Draft, number: int) -> str:
    """Return the label of a script: its stage or, for a script without a stage, its number."""
    if draft is desk.first:
        return _("Original")
    if desk.decision and draft.pk == desk.decision.edited_id:
        return _("Edited and approved")
    if draft == desk.refined_in(Arm.MODEL):
        return _("Refined")
    if draft == desk.refined_in(Arm.EXPERT):
        return _("Refined from your feedback")
    if draft == desk.refined_by_another:
        return _("Refined from another expert’s feedback")
    if not (desk.visible["verdict"] and desk.visible["models"]):
        return _("Script %(number)s") % {"number": number}
    kind = draft.get_kind_display().lower()
    return _("Script %(number)s, %(kind)s") % {"number": number, "kind": kind}


def show_pane(
    desk: ItemView, step: Step | None, drafts: list[ShownDraft], selection: PaneSelection
) -> Pane | None:
    """Return the contents of the script pane, or None if the reviewer may see no script."""
    if not drafts:
        return None
    by_number = {one.number: one for one in drafts}
    edited = desk.decision.edited_id if desk.decision else None
    approved = next((one for one in drafts if one.draft.pk == edited), None)
    shown = by_number.get(selection.show) or approved or _draft_in_view(step, drafts)
    original = next((one for one in drafts if one.draft is desk.first), drafts[0])
    against = by_number.get(selection.against)
    if shown is approved and desk.decision:
        # Compare the edited script with the script that the reviewer edited.
        before = desk.decision.draft_id
        original = next((one for one in drafts if one.draft.pk == before), original)
    is_refined = shown.draft != desk.first and (step is None or step.stage == Score.Stage.REFINED)
    if selection.against < 0 and not selection.show and is_refined:
        against = original
    if against is shown:
        against = None
    findings, gone = _compare(shown, original)
    return Pane(
        shown=shown,
        against=against,
        side=selection.side,
        scripts=[
            _plain(desk, selection, one, current=against is None and one is shown) for one in drafts
        ]
        if len(drafts) > 1
        else [],
        differences=_differences(selection, shown, original, against, drafts),
        findings=findings,
        gone=gone,
    )


def _plain(desk: ItemView, selection: PaneSelection, one: ShownDraft, *, current: bool) -> Choice:
    named = {desk.first: "original", desk.refined_in(Arm.MODEL): "refined"}
    return {
        "label": one.label,
        "name": named.get(one.draft, ""),
        "number": one.number,
        "url": _address(selection, one.number, 0, side=selection.side),
        "current": current,
    }


def _differences(
    selection: PaneSelection,
    shown: ShownDraft,
    original: ShownDraft,
    against: ShownDraft | None,
    drafts: Sequence[ShownDraft],
) -> list[Choice]:
    """Return the links to comparisons with the original.

    If the original is in view, link to the newest script's comparison.
    """
    new = shown if shown is not original else drafts[-1]
    if new is original:
        return []
    return [
        {
            "label": _("Side by side") if side else _("Inline"),
            "name": "layout" if side else "diff",
            "number": new.number,
            "url": _address(selection, new.number, original.number, side=side),
            "current": against is not None and selection.side == side,
        }
        for side in (False, True)
    ]


def _compare(
    shown: ShownDraft, original: ShownDraft
) -> tuple[list[ComparedFinding], list[ComparedFinding]]:
    """Return the findings of the script in view, with new findings marked, and findings that only the original has."""
    if shown is original:
        return [_shown(one) for one in shown.findings], []
    new, gone = new_and_gone(_placed(original), _placed(shown))
    return (
        [_shown(one, "new" if at in new else "") for at, one in enumerate(shown.findings)],
        [_shown(one, "gone") for at, one in enumerate(original.findings) if at in gone],
    )


def _placed(one: ShownDraft) -> list[Placed]:
    lines = one.draft.script.splitlines()
    return [
        Placed(found.check_name, found.code, found.message, Placed.text_of(lines, found.line))
        for found in one.findings
    ]


def _shown(one: DraftFinding, change: str = "") -> ComparedFinding:
    return ComparedFinding(
        one.check_name, one.outcome, one.line, one.level, one.code, one.message, change
    )


def _address(selection: PaneSelection, show: int, against: int, *, side: bool) -> str:
    query: dict[str, int | str] = {"show": show, "against": against}
    if side:
        query["side"] = 1
    if selection.change:
        query["change"] = selection.change
    return f"{selection.page}?{urlencode(query)}"


def _draft_in_view(step: Step | None, drafts: list[ShownDraft]) -> ShownDraft:
    """Return the Draft to score or, if none needs a score, the Draft with the highest score, preferring the newest."""
    if step and step.draft:
        return next((one for one in drafts if one.draft.pk == step.draft.pk), drafts[0])
    if step and step.stage == Score.Stage.FEEDBACK:
        return drafts[0]
    return max(drafts, key=lambda one: (one.score.value if one.score else -1, one.number))
