"""Filters for the API's lists of scores and decisions."""

from __future__ import annotations

import django_filters as filters

from review.models import Decision, Score
from review.queue.api_filters import ItemKeyFilter


class ScoreFilter(filters.FilterSet):  # type: ignore[misc]
    """Filter the caller's scores."""

    item = ItemKeyFilter()

    class Meta:
        model = Score
        fields = ("stage", "arm", "value", "current")


class DecisionFilter(filters.FilterSet):  # type: ignore[misc]
    """Filter the decisions made in the review queue."""

    item = ItemKeyFilter()

    class Meta:
        model = Decision
        fields = ("kind", "by")
