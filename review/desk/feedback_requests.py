"""Feedback and rewrites that a reviewer asks for; both are made in the background, and the item comes back."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from core.errors import BadInput, NotAllowedNow
from pipeline import services as pipeline
from pipeline.models import Refinement
from pipeline.types import Arm, SecretsChoice
from review.blinding.item_view import open_item
from review.desk.scores import held_assignment
from review.models import Assignment, Item


@transaction.atomic
def ask_for_feedback(item: Item, *, by: User) -> Refinement:
    """Live queue: the reviewer marked wrong what the assessor passed. Feedback and refinement are made in the
    background, the reviewer goes on, and the item comes back to them.
    """
    desk = open_item(item, by)
    assignment = held_assignment(desk)
    if not desk.can_ask_feedback or desk.first is None:
        raise NotAllowedNow(
            _(
                "Score the script 0 or 1 first. Feedback can be requested only where there is none yet."
            )
        )
    refinement = pipeline.ask_refinement(desk.first, by=by)
    _set_waiting(assignment)
    return refinement


@transaction.atomic
def send_feedback(
    item: Item,
    *,
    text: str,
    by: User,
    based_on: int | None = None,
    secrets: SecretsChoice | None = SecretsChoice.MASK,
) -> Refinement:
    """The expert's own feedback: the script is rewritten from it, and comes back to be scored in its own arm.

    `secrets` says what is done with those in it; None where the expert is to be asked, which raises SecretsFound. In
    a study they are masked without a question: that there is one would tell which model rewrites.
    """
    if not text.strip():
        raise BadInput(_("Write what is wrong with the script."), field="feedback")
    desk = open_item(item, by)
    assignment = held_assignment(desk)
    if desk.first is None or desk.script_score is None:
        raise NotAllowedNow(_("Score the script first."))
    model_feedback = desk.feedback_in(Arm.MODEL.value)
    if based_on is not None and (model_feedback is None or based_on != model_feedback.pk):
        raise BadInput(_("That is not the feedback you were shown."), field="feedback")
    try:
        refinement = pipeline.ask_refinement(
            desk.first,
            by=by,
            feedback=text,
            based_on=model_feedback if based_on else None,
            secrets=secrets if item.campaign.is_live else SecretsChoice.MASK,
        )
    except pipeline.SecretsFound as found:
        # The names of models are for those who may see them.
        raise pipeline.SecretsFound(found.found, to=[_("The model that rewrites")]) from found
    _set_waiting(assignment)
    return refinement


def _set_waiting(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.ACTIVE).update(
        state=Assignment.State.WAITING, lease_until=None
    )
