"""Messages on the review page while feedback and a rewrite are in progress."""

from __future__ import annotations

from django.utils.translation import gettext as _

from review.blinding.item_view import ItemView
from review.models import Assignment


def waits_for_rewrite(desk: ItemView) -> bool:
    """Return whether feedback or a rewrite that this reviewer requested is in progress."""
    assignment = desk.assignment
    if assignment is None or assignment.state == Assignment.State.SUBMITTED:
        return False
    # A reviewer without a score can't have requested a rewrite. Another reviewer's request would reveal that reviewer's
    # opinion.
    if desk.script_score is None:
        return False
    return desk.run.is_active or desk.is_preparing


def say_ready(desk: ItemView) -> str:
    """Return the message for a reviewer whose request has finished, or "" for all other reviewers."""
    assignment = desk.assignment
    if assignment is None or assignment.state != Assignment.State.WAITING:
        return ""
    if waits_for_rewrite(desk):
        return ""
    if came_to_nothing(desk):
        return _(
            "The model didn't produce a rewrite. Continue without one or write your own feedback."
        )
    return _("The rewrite that you requested is ready.")


def came_to_nothing(desk: ItemView) -> bool:
    """Return whether the newest requested rewrite failed."""
    newest = desk.refinements[-1] if desk.refinements else None
    return newest is not None and newest.state == newest.State.FAILED
