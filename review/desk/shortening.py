"""Asks a model to shorten an expert's own feedback; the expert takes the result or leaves it."""

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
    """Have feedback on the item's script shortened in the background; the person goes on writing meanwhile.

    Raises BadInput without a long text, NotAllowedNow where the item is not in their hands, the script not
    scored, no model there or its budget used up.
    """
    desk = open_item(item, by)
    held_assignment(desk)
    if desk.first is None or desk.script_score is None:
        raise NotAllowedNow(_("Score the script first."))
    return pipeline.ask_shorter(desk.first, text=text, by=by)


def access_shortening(item: Item, pk: int, *, by: User) -> Shortening:
    """What became of this person's own text; 404 for anybody else's."""
    return get_object_or_404(Shortening, pk=pk, run=item.run_id, asked_by=by)
