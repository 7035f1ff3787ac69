"""Comments on single lines of a script. Only a reviewer who claimed the item can add and remove comments."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import BadInput, NotAllowedNow
from pipeline.models import Draft
from review.blinding.item_view import ItemView, open_item
from review.desk.scores import held_assignment
from review.models import Item, Remark

MAX_TEXT = 2_000
# More extensive criticism belongs in the comment on the whole script.
MOST_EACH = 200


@transaction.atomic
def add_remark(item: Item, *, draft: int, line: int, text: str, by: User) -> Remark:
    """Add a comment on one line of a script and return it. If the same comment exists, return the existing comment.

    Raises BadInput if the line does not exist or the text is empty or too long. Raises NotAllowedNow if the user has
    not claimed the item or may not see the script.
    """
    text = text.strip()
    if not text:
        raise BadInput(_("Enter a comment."), field="remark")
    if len(text) > MAX_TEXT or "\0" in text:
        raise BadInput(
            _("A line comment can have at most %s characters.") % f"{MAX_TEXT:,}", field="remark"
        )
    # Lock the item, so that a double click adds only one comment.
    Item.objects.select_for_update().get(pk=item.pk)
    desk = open_item(item, by)
    held_assignment(desk)
    seen = next((one for one in desk.shown_drafts if one.pk == draft), None)
    if seen is None:
        raise NotAllowedNow(_("You can't see this script yet."))
    last = count_lines(seen)
    if not 1 <= line <= last:
        raise BadInput(_("Enter a line number from 1 to %s.") % last, field="line")
    mine = Remark.objects.filter(item=item, by=by, removed_at=None)
    same = mine.filter(draft=seen, line=line, text=text).first()
    if same is not None:
        return same
    if mine.count() >= MOST_EACH:
        raise NotAllowedNow(_("An item can have at most %s line comments.") % MOST_EACH)
    return Remark.objects.create(item=item, by=by, draft=seen, line=line, text=text)


@transaction.atomic
def remove_remark(item: Item, remark: int, *, by: User) -> Remark:
    """Mark the user's comment as removed and return it. Repeating the call changes nothing.

    Raises BadInput if the user has no such comment, and NotAllowedNow if the user has not claimed the item.
    """
    found = Remark.objects.filter(pk=remark, item=item, by=by).first()
    if found is None:
        raise BadInput(_("This comment does not exist, or it is not yours."), field="remark")
    held_assignment(open_item(item, by))
    if found.removed_at is None:
        found.removed_at = timezone.now()
        found.save(update_fields=["removed_at"])
    return found


def remarks_of(desk: ItemView) -> list[Remark]:
    """Return the visible comments on scripts that the reviewer may see.

    Other reviewers' comments are included only if the campaign does not hide its reviewers.
    """
    if not getattr(desk.item, "has_remarks", True):
        return []
    found = Remark.objects.filter(item=desk.item, removed_at=None).select_related("by")
    if not desk.visible["reviewers"]:
        found = found.filter(by=desk.reviewer)
    seen = {one.pk for one in desk.shown_drafts}
    return [one for one in found if one.draft_id in seen or desk.is_closed]


def write_notes(desk: ItemView) -> str:
    """Return the reviewer's comment and line comments on the first script, as a list of points in Markdown."""
    score = desk.script_score
    if score is None or desk.first is None:
        return ""
    points = [line.strip().removeprefix("- ") for line in score.comment.splitlines()]
    points += [
        _("Line %(line)s: %(text)s") % {"line": one.line, "text": " ".join(one.text.split())}
        for one in remarks_of(desk)
        if one.by_id == desk.reviewer.pk and one.draft_id == desk.first.pk
    ]
    return "\n".join(f"- {point}" for point in points if point)


def remarks_for(item: Item, drafts: Sequence[Draft]) -> list[Remark]:
    """Return all line comments on these scripts, for adjudicators."""
    found = Remark.objects.filter(item=item, draft__in=drafts, removed_at=None)
    return list(found.select_related("by"))


def count_lines(draft: Draft) -> int:
    """Return the number of lines in a script, with the same line numbers as on the page."""
    return draft.script.removesuffix("\n").count("\n") + 1
