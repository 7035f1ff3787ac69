"""Create and check a token for the Drafts that a page shows. The reviewer can decide only on these Drafts.

The token is an HMAC of the user, the item and the visible Drafts, so it reveals nothing about them. A hidden Draft
affects neither the token nor the error messages.
"""

from __future__ import annotations

from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from core.errors import BadInput, Stale
from pipeline.models import Draft
from review.blinding.item_view import ItemView, Step

_SALT = "review.desk.shown_drafts"
_LENGTH = 32  # hex digits per half


def steps_shown(desk: ItemView) -> dict[int, Step]:
    """Return a dict that maps the key of each visible Draft to its step, in stage order."""
    return {step.draft.pk: step for step in desk.steps if step.draft}


def seal(desk: ItemView) -> str:
    """Return the page's token: one half identifies the user and the item, the other half the visible Drafts."""
    drafts = sorted(desk.shown_drafts, key=lambda one: one.pk)
    shown = " ".join(f"{draft.pk}:{draft.sha256}" for draft in drafts)
    owner = f"{desk.reviewer.pk} {desk.item.pk}"
    return _hmac(owner) + _hmac(f"{owner} {shown}")


def draft_shown(desk: ItemView, *, sha256: str, token: str) -> Draft:
    """Return the Draft with this hash if it is visible and the page with this token showed the same Drafts.

    Raises BadInput if the token belongs to another user or item. Raises Stale if the visible Drafts have changed or
    none of them has this hash.
    """
    now = seal(desk)
    if not constant_time_compare(token[:_LENGTH], now[:_LENGTH]):
        raise BadInput(
            _("This page is out of date. Reload the page."),
            field="shown",
        )
    drafts = desk.shown_drafts
    newest = max((draft.number for draft in drafts), default=0)
    if not constant_time_compare(token, now):
        raise Stale(
            _(
                "This item changed while you were reading it. No decision was saved. Check "
                "the new version first."
            ),
            newest=newest,
        )
    seen = next((draft for draft in drafts if draft.sha256 == sha256), None)
    if seen is None:
        raise Stale(
            _("No decision was saved, because your page no longer shows this script."),
            newest=newest,
        )
    return seen


def _hmac(text: str) -> str:
    return salted_hmac(_SALT, text, algorithm="sha256").hexdigest()[:_LENGTH]
