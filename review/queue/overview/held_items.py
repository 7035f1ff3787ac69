"""What a person has in hand: what they score, and what they sent to be rewritten."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Case, CharField, OuterRef, QuerySet, Subquery, When

from pipeline.models import Refinement
from review.models import Assignment, Campaign

State = Assignment.State


def held_by(user: User) -> QuerySet[Assignment]:
    """The newest first, with `rewrite_state`: how the newest rewrite went, told of the live queue only.

    In a study a rewrite may be another reviewer's, which this person must not learn of.
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
