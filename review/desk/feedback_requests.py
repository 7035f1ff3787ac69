"""Reviewers' requests for feedback and rewrites.

Requests are processed in the background. The item then returns to the reviewer.
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
    """Request feedback and a refinement for a script in the review queue that the reviewer scored as wrong.

    Raises NotAllowedNow if the script already has feedback, or if the reviewer has not claimed the item.
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
    """Request a rewrite from the reviewer's own feedback. The refined script is scored in the experts' arm.

    `secrets` is the choice for secrets in the text. With None, a secret raises SecretsFound, and the page asks the
    reviewer. Studies always mask secrets, because the question would reveal which model rewrites the script.
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
        # Replace the model's name, because only some users may see model names.
        raise pipeline.SecretsFound(
            found.found, to=[_("The model that rewrites the script")]
        ) from found
    _set_waiting(assignment)
    return refinement


def _set_waiting(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.ACTIVE).update(
        state=Assignment.State.WAITING, lease_until=None
    )
