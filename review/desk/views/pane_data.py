"""The scripts on the review screen: which one is in view, what it is compared with, and the ways to choose others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from pipeline.models import Draft
from review.blinding.item_view import ItemView, Step
from review.desk.views.decision_data import ShownDraft
from review.models import Score


class Choice(TypedDict):
    label: str
    url: str
    current: bool


@dataclass(frozen=True)
class Look:
    """How the person looks at the item: by the numbers of Drafts, and the stage whose score they change."""

    show: int = 0
    against: int = -1  # 0: against nothing; -1: as the stage suggests
    side: bool = False
    change: str = ""


@dataclass(frozen=True)
class Pane:
    """The script in view, and the one it is compared with; the ways to choose others."""

    shown: ShownDraft
    against: ShownDraft | None
    side: bool
    scripts: Sequence[Choice]
    comparisons: Sequence[Choice]
    layouts: Sequence[Choice]


def read_look(query: Mapping[str, str]) -> Look:
    """What the address or a form says of it; what makes no sense is left out."""

    def whole(name: str, missing: int) -> int:
        value = query.get(name, "")
        return int(value) if value.isdecimal() and len(value) < 6 else missing

    return Look(
        show=whole("show", 0),
        against=whole("against", -1),
        side=query.get("side") == "1",
        change=query.get("change", ""),
    )


def visible_drafts(desk: ItemView) -> list[ShownDraft]:
    """The Drafts whose stage is open, and those made by people; in a closed item, all."""
    steps = {step.draft.pk: step for step in desk.steps if step.draft}
    shown: list[ShownDraft] = []
    for draft in desk.drafts:
        step = steps.get(draft.pk)
        if step is None and not (
            desk.is_closed and desk.visible["feedback"] and desk.item.campaign.is_live
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
    return shown


def _label(desk: ItemView, draft: Draft, number: int) -> str:
    """Which script it is. How it came about tells its arm, and of a repaired one that the first was broken."""
    if not (desk.visible["verdict"] and desk.visible["models"]):
        return _("Script %(number)s") % {"number": number}
    kind = draft.get_kind_display().lower()
    return _("Script %(number)s, %(kind)s") % {"number": number, "kind": kind}


def show_pane(
    desk: ItemView, step: Step | None, drafts: list[ShownDraft], look: Look
) -> Pane | None:
    if not drafts:
        return None
    by_number = {one.number: one for one in drafts}
    shown = by_number.get(look.show) or _draft_in_view(step, drafts)
    others = [one for one in drafts if one is not shown]
    against = by_number.get(look.against)
    is_refined = shown.draft != desk.first and (step is None or step.stage == Score.Stage.REFINED)
    if look.against < 0 and not look.show and is_refined:
        against = drafts[0]
    if against is shown:
        against = None
    number = shown.number
    many = len(drafts) > 1
    return Pane(
        shown=shown,
        against=against,
        side=look.side,
        scripts=[
            _choice(look, one.number, 0, look.side, against is None and one is shown)
            for one in drafts
            if many
        ],
        comparisons=[
            _choice(look, number, one.number, look.side, against is one) for one in others
        ],
        layouts=[_layout(look, number, against.number, side=side) for side in (False, True)]
        if against
        else [],
    )


def _choice(look: Look, show: int, against: int, side: bool, current: bool) -> Choice:
    number = against or show
    return {
        "label": str(number),
        "url": _address(look, show, against, side=side),
        "current": current,
    }


def _layout(look: Look, show: int, against: int, *, side: bool) -> Choice:
    current = look.side == side
    return {
        "label": _("Side by side") if side else _("Inline"),
        "url": _address(look, show, against, side=side),
        "current": current,
    }


def _address(look: Look, show: int, against: int, *, side: bool) -> str:
    query: dict[str, int | str] = {"show": show, "against": against}
    if side:
        query["side"] = 1
    if look.change:
        query["change"] = look.change
    return f"?{urlencode(query)}"


def _draft_in_view(step: Step | None, drafts: list[ShownDraft]) -> ShownDraft:
    """The Draft to score; with nothing to score, the best scored one, the newest of equals."""
    if step and step.draft:
        return next((one for one in drafts if one.draft.pk == step.draft.pk), drafts[0])
    if step and step.stage == Score.Stage.FEEDBACK:
        return drafts[0]
    return max(drafts, key=lambda one: (one.score.value if one.score else -1, one.number))
