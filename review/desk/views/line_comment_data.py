"""Context of line comments: the comments on the visible scripts, and the comment being typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User

from pipeline.models import Draft
from review.blinding.item_view import ItemView
from review.desk.line_comments import count_lines, remarks_of
from review.desk.shown_keys import name_draft
from review.models import Remark


@dataclass(frozen=True)
class ShownRemark:
    """A comment on a line. `who` is the author's name, or empty for the reader's own comments."""

    pk: int
    line: int
    text: str
    who: str = ""
    old: bool = False
    removable: bool = False


def show_remark(remark: Remark, *, reader: User, old: bool, may_remove: bool) -> ShownRemark:
    """Return a line comment as this reader sees it."""
    own = remark.by_id == reader.pk
    who = "" if own else remark.by.get_full_name() or remark.by.username
    return ShownRemark(
        pk=remark.pk,
        line=remark.line,
        text=remark.text,
        who=who,
        old=old,
        removable=own and may_remove,
    )


def show_remarks(
    desk: ItemView,
    *,
    shown: Draft | None,
    against: Draft | None,
    typed: Mapping[str, str] | None,
    may_change: bool,
) -> dict[str, object]:
    """Return the context of the line comments on the shown and the compared script, and of the comment form."""
    if shown is None:
        return {"may_remark": False}
    all_of_them = remarks_of(desk)

    def at(draft: Draft | None) -> list[ShownRemark]:
        return [
            show_remark(one, reader=desk.reviewer, old=draft is against, may_remove=may_change)
            for one in all_of_them
            if draft is not None and one.draft_id == draft.pk
        ]

    remarks, old_remarks = at(shown), at(against)
    own = [one for one in all_of_them if one.by_id == desk.reviewer.pk]
    is_open = any(one.pk == shown.pk for one in desk.shown_drafts)
    return {
        "remarks": remarks,
        "old_remarks": old_remarks,
        "has_remarks": bool(remarks or old_remarks),
        "may_remark": may_change and is_open,
        "lines": count_lines(shown),
        "remark_on": name_draft(desk.item.pk, shown.pk),
        **_texts(desk, shown, own, typed),
    }


def _texts(
    desk: ItemView, shown: Draft, own: Iterable[Remark], typed: Mapping[str, str] | None
) -> dict[str, object]:
    """Return the typed comment that was not submitted yet. A comment that was already added is excluded."""
    if typed is not None and "remark" in typed:
        return {"remark_text": typed["remark"], "remark_line": typed.get("line", "")}
    kept = desk.scratch.fields if desk.scratch else {}
    name = name_draft(desk.item.pk, shown.pk)
    text, line = kept.get(f"remark-{name}", ""), kept.get(f"remark-line-{name}", "")
    if any(one.text == str(text).strip() and one.draft_id == shown.pk for one in own):
        text, line = "", ""
    return {"remark_text": text, "remark_line": line}
