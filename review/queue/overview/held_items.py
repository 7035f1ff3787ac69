"""A reviewer's unfinished assignments: items to score and items that are being refined."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Case, CharField, OuterRef, QuerySet, Subquery, When

from pipeline.models import Refinement
from review.models import Assignment, Campaign

State = Assignment.State


def held_by(user: User) -> QuerySet[Assignment]:
    """Return the user's active and waiting assignments, newest first.

    `rewrite_state` is the state of the latest refinement, or None in studies, in which the refinement may be based on
    another reviewer's feedback and must remain hidden.
    """
    newest = Refinement.objects.filter(run=OuterRef("item__run")).order_by("-pk")
    return (
        Assignment.objects.filter(reviewer=user, state__in=[State.ACTIVE, State.WAITING])
        .annotate(
            rewrite_state=Case(
                When(
                    item__campaign__kind=Campaign.Kind.LIVE,
                    then=Subquery(newest.values("state")[:1]),
                ),
                output_field=CharField(),
            )
        )
        .select_related("item__run__action", "item__campaign")
        .order_by("-pk")
    )
