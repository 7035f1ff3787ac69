"""Messages of the review screen while feedback and a rewrite are being made."""

from __future__ import annotations

from django.utils.translation import gettext as _

from review.blinding.item_view import ItemView
from review.models import Assignment


def waits_for_rewrite(desk: ItemView) -> bool:
    """Whether feedback and a rewrite are being made that this person asked for."""
    assignment = desk.assignment
    if assignment is None or assignment.state == Assignment.State.SUBMITTED:
        return False
    # Who has not scored it asked for nothing; that another reviewer did would tell what they thought.
    if desk.script_score is None:
        return False
    return desk.run.is_active or desk.is_preparing


def say_ready(desk: ItemView) -> str:
    """What came of it, for who waited; empty for anybody else."""
    assignment = desk.assignment
    if assignment is None or assignment.state != Assignment.State.WAITING:
        return ""
    if waits_for_rewrite(desk):
        return ""
    if came_to_nothing(desk):
        return _("The model made no rewrite. Continue without it, or write your own feedback.")
    return _("What you asked for is ready.")


def came_to_nothing(desk: ItemView) -> bool:
    """Whether the newest rewrite that was asked for could not be made."""
    newest = desk.refinements[-1] if desk.refinements else None
    return newest is not None and newest.state == newest.State.FAILED
