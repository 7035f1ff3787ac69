"""Requests to shorten a reviewer's feedback with a model. The reviewer can accept or ignore the result."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from core.errors import NotAllowedNow
from pipeline import services as pipeline
from pipeline.models import Shortening
from review.blinding.item_view import open_item
from review.desk.scores import held_assignment
from review.models import Item


def shorten_feedback(item: Item, *, text: str, by: User) -> Shortening:
    """Request a shorter version of the feedback from a model, which works in the background.

    Raises BadInput if the text is already short. Raises NotAllowedNow if the item is not claimed, the script is not
    scored, no model is available, or the budget is used up.
    """
    desk = open_item(item, by)
    held_assignment(desk)
    if desk.first is None or desk.script_score is None:
        raise NotAllowedNow(_("Score the script first."))
    return pipeline.ask_shorter(desk.first, text=text, by=by)


def access_shortening(item: Item, pk: int, *, by: User) -> Shortening:
    """Return the user's own shortening request. Raises Http404 for other users' requests."""
    return get_object_or_404(Shortening, pk=pk, run=item.run_id, asked_by=by)
