"""A sealed token of the Drafts that a screen showed to its reviewer: only those can be decided on.

The seal is made of the person, the item and the Drafts whose gate is open to them, and tells nothing of any of
them. A Draft that is hidden changes neither it nor what is answered.
"""

from __future__ import annotations

from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from core.errors import BadInput, Stale
from pipeline.models import Draft
from review.blinding.item_view import ItemView, Step

_SALT = "review.desk.shown_drafts"
_LENGTH = 32  # hex digits of each half


def steps_shown(desk: ItemView) -> dict[int, Step]:
    """By key of the Draft, the stage that it is; of the Drafts that this person may see now, in their order."""
    return {step.draft.pk: step for step in desk.steps if step.draft}


def seal(desk: ItemView) -> str:
    """The token of what is shown now: whose screen of which item it is, then which Drafts stand on it."""
    drafts = sorted(desk.shown_drafts, key=lambda one: one.pk)
    shown = " ".join(f"{draft.pk}:{draft.sha256}" for draft in drafts)
    owner = f"{desk.reviewer.pk} {desk.item.pk}"
    return _hmac(owner) + _hmac(f"{owner} {shown}")


def draft_shown(desk: ItemView, *, sha256: str, token: str) -> Draft:
    """The Draft with this hash, which the screen with this token showed and still does.

    Raises BadInput for a token that is not of this person and item, and Stale where what they may see has changed
    since, or the Draft is none of it.
    """
    now = seal(desk)
    if not constant_time_compare(token[:_LENGTH], now[:_LENGTH]):
        raise BadInput(
            _("This page is out of date: load the item again."),
            field="shown",
        )
    drafts = desk.shown_drafts
    newest = max((draft.number for draft in drafts), default=0)
    if not constant_time_compare(token, now):
        raise Stale(
            _(
                "This item changed while you were reading it. Nothing was decided; check the new version first."
            ),
            newest=newest,
        )
    seen = next((draft for draft in drafts if draft.sha256 == sha256), None)
    if seen is None:
        raise Stale(_("This script is not on your screen now; nothing was decided."), newest=newest)
    return seen


def _hmac(text: str) -> str:
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()[:_LENGTH]
