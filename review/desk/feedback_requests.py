"""Reviewers' requests for feedback and rewrites. Both run in the background, and the item then returns to the
reviewer.
"""

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
    """Request feedback and a refinement for a script that the reviewer scored wrong and the assessor passed.

    This is for the review queue only. Both are made in the background. The item then returns to the reviewer.
    """
    desk = open_item(item, by)
    assignment = held_assignment(desk)
    if not desk.can_ask_feedback or desk.first is None:
        raise NotAllowedNow(
            _(
                "You can request feedback only for a script that you scored 0 or 1 and "
                "that has no feedback yet."
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
    """Request a rewrite from the expert's own feedback. The result is scored in its own arm.

    `secrets` says what to do with secrets in the text. None raises SecretsFound so that the page can ask the expert. In
    a study, secrets are always masked without asking, because the question would reveal which model rewrites.
    """
    if not text.strip():
        raise BadInput(_("Describe what is wrong with the script."), field="feedback")
    desk = open_item(item, by)
    assignment = held_assignment(desk)
    if desk.first is None or desk.script_score is None:
        raise NotAllowedNow(_("Score the script first."))
    model_feedback = desk.feedback_in(Arm.MODEL.value)
    if based_on is not None and (model_feedback is None or based_on != model_feedback.pk):
        raise BadInput(
            _("The model's feedback has changed since you started. Reload the page."),
            field="feedback",
        )
    try:
        refinement = pipeline.ask_refinement(
            desk.first,
            by=by,
            feedback=text,
            based_on=model_feedback if based_on else None,
            secrets=secrets if item.campaign.is_live else SecretsChoice.MASK,
        )
    except pipeline.SecretsFound as found:
        # Only some users may see model names.
        raise pipeline.SecretsFound(
            found.found, to=[_("The model that rewrites the script")]
        ) from found
    _set_waiting(assignment)
    return refinement


def _set_waiting(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.ACTIVE).update(
        state=Assignment.State.WAITING, lease_until=None
    )
