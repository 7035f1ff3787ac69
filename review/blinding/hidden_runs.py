"""Hide verdicts, models and references on action and run pages from users who may have to score the scripts.

The composition root registers these functions with `pipeline.hooks`, because the pipeline must not import reviews.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import Combinable

from pipeline.models import Action, Draft, Feedback, Run
from pipeline.types import Arm
from review.models import Assignment, Campaign, Item, Reveal, Score

MANAGE = "review.manage_campaigns"
REVIEW = "review.review"
# Runs requested on the page or through the API. Runs from campaigns and the command line do not enter the review queue.
GOES_TO_QUEUE = [Run.Origin.ASKED, Run.Origin.DEMO]


def mark_hidden_runs(user: User, runs: QuerySet[Run]) -> QuerySet[Run]:
    """Annotate runs with `hides_verdict`, `hides_models`, `hides_reference` and `hides_end`.

    A study's runs are hidden from all users except managers until the study is closed, because every reviewer may get
    them next. A run in the review queue is hidden from the reviewer who claimed it until they score its script or view
    the verdict. While a run's item is open or not yet created, the run is hidden from every reviewer who has not scored
    it. Any of them may give the next score. The user who requested the script always sees the run.
    `review.blinding.exposure` records what is shown.
    """
    if user.has_perm(MANAGE):
        no = Value(False)
        return runs.annotate(hides_verdict=no, hides_models=no, hides_reference=no, hides_end=no)
    studied = _of_open_studies().filter(run=OuterRef("pk"))
    held = _held_unscored(user).filter(run=OuterRef("pk"))
    return runs.annotate(
        hides_verdict=Exists(studied)
        | Exists(held.filter(campaign__hides_verdict=True))
        | _may_be_asked_for(user),
        hides_models=Exists(studied.filter(campaign__hides_models=True))
        | Exists(held.filter(campaign__hides_models=True)),
        hides_reference=Exists(studied.filter(campaign__hides_reference=True)),
        # Scripts that passed are refined after their run ends, and all others before it ends. With message batches, a
        # refinement takes hours, so the end of a run would reveal the verdict. Both kinds of run are shown as running
        # until the item is ready.
        hides_end=Exists(studied.filter(state=Item.State.PREPARING)),
    )


def mark_hidden_actions(user: User, actions: QuerySet[Action]) -> QuerySet[Action]:
    """Annotate actions with `hides_reference`, by the same rules as for runs."""
    if user.has_perm(MANAGE):
        return actions.annotate(hides_reference=Value(False))
    studied = _of_open_studies().filter(case__action=OuterRef("pk"), campaign__hides_reference=True)
    return actions.annotate(hides_reference=Exists(studied))


def _of_open_studies() -> QuerySet[Item]:
    return Item.objects.filter(campaign__kind=Campaign.Kind.STUDY).exclude(
        campaign__state=Campaign.State.CLOSED
    )


def _may_be_asked_for(user: User) -> Combinable | Exists | Value:
    """Return a condition for runs that are or will be in the review queue and that the user may be asked to score."""
    if not user.has_perm(REVIEW):
        return Value(False)
    hiding = Campaign.objects.filter(kind=Campaign.Kind.LIVE, hides_verdict=True)
    waiting = _in_live_queue(user, Score.objects.filter(reviewer=user)).filter(
        campaign__hides_verdict=True, state=Item.State.OPEN, run=OuterRef("pk")
    )
    is_there = Item.objects.filter(run=OuterRef("pk"), campaign__kind=Campaign.Kind.LIVE)
    ends_there = Q(state__in=[Run.State.QUEUED, Run.State.RUNNING]) | Q(
        state=Run.State.DONE, recommended__isnull=False
    )
    is_coming = (
        Q(origin__in=GOES_TO_QUEUE, answered_by=None)
        & ends_there
        & ~(Q(asked_by=user) & Q(asked_by__isnull=False))
        & ~Exists(is_there)
        & Exists(hiding)
    )
    is_waiting = Exists(waiting.exclude(run__asked_by=user))
    return ExpressionWrapper(Q(is_waiting) | is_coming, output_field=BooleanField())


def _held_unscored(user: User) -> QuerySet[Item]:
    mine = Q(
        assignments__reviewer=user,
        assignments__state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING],
    )
    return _in_live_queue(user, Score.objects.filter(reviewer=user)).filter(mine)


def _in_live_queue(user: User, scores: QuerySet[Score]) -> QuerySet[Item]:
    """Return review queue items that have no script score in `scores` and whose verdict the user has not revealed."""
    scored = scores.filter(item=OuterRef("pk"), stage=Score.Stage.SCRIPT, current=True)
    asked = Reveal.objects.filter(item=OuterRef("pk"), reviewer=user, what=Reveal.What.VERDICT)
    return Item.objects.filter(~Exists(scored), ~Exists(asked), campaign__kind=Campaign.Kind.LIVE)


def as_first_draft(drafts: Sequence[Draft], first: Draft | None) -> list[Draft]:
    """Return only the refined Draft, disguised as a first Draft for a halo check. Never save the returned Draft."""
    explained = Feedback.objects.filter(draft=first, arm=Arm.MODEL.value)
    keys = set(explained.values_list("pk", flat=True))
    refined = next((one for one in drafts if one.feedback_id in keys), None)
    if first is None or refined is None:
        return []
    refined.number, refined.kind, refined.round = first.number, first.kind, first.round
    refined.parent_id = refined.feedback_id = refined.refinement_id = None
    return [refined]
