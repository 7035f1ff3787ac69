"""What reviewers must not learn from the pages of actions and runs; the desk has its own rules for its screen.

Registered with `pipeline.hooks` by the composition root, since the pipeline does not know of reviews.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet, Value

from pipeline.models import Action, Run
from review.models import Assignment, Campaign, Item, Reveal, Score

MANAGE = "review.manage_campaigns"


def mark_hidden_runs(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """The runs with `hides_verdict`, `hides_models` and `hides_reference` for this person; no query of its own.

    Runs of a study are hidden from everybody but managers until it is closed, since every reviewer may be
    asked next. A run of the live queue is hidden from who has it in hand, until they score its script or ask.
    """
    if user.has_perm(MANAGE):
        no = Value(False)
        return runs.annotate(hides_verdict=no, hides_models=no, hides_reference=no)
    studied = _of_open_studies().filter(run=OuterRef("pk"))
    held = _held_unscored(user).filter(run=OuterRef("pk"))
    return runs.annotate(
        hides_verdict=Exists(studied) | Exists(held.filter(campaign__hides_verdict=True)),
        hides_models=Exists(studied.filter(campaign__hides_models=True))
        | Exists(held.filter(campaign__hides_models=True)),
        hides_reference=Exists(studied.filter(campaign__hides_reference=True)),
    )


def mark_hidden_actions(user: User, actions: QuerySet[Action]) -> QuerySet[Action]:
    """The actions with `hides_reference` for this person, by the same rule."""
    if user.has_perm(MANAGE):
        return actions.annotate(hides_reference=Value(False))
    studied = _of_open_studies().filter(case__action=OuterRef("pk"), campaign__hides_reference=True)
    return actions.annotate(hides_reference=Exists(studied))


def _of_open_studies() -> QuerySet[Item]:
    return Item.objects.filter(campaign__kind=Campaign.Kind.STUDY).exclude(
        campaign__state=Campaign.State.CLOSED
    )


def _held_unscored(user: User) -> QuerySet[Item]:
    scored = Score.objects.filter(
        item=OuterRef("pk"), reviewer=user, stage=Score.Stage.SCRIPT, current=True
    )
    asked = Reveal.objects.filter(item=OuterRef("pk"), reviewer=user, what=Reveal.What.VERDICT)
    mine = Q(
        assignments__reviewer=user,
        assignments__state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING],
    )
    return Item.objects.filter(
        mine, ~Exists(scored), ~Exists(asked), campaign__kind=Campaign.Kind.LIVE
    )
