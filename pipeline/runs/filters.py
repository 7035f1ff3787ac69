"""Filters for the list of runs."""

from __future__ import annotations

import django_filters as filters
from django.db.models import Q, QuerySet

from pipeline.access import shown_models, shown_verdicts, with_shown_state
from pipeline.display_names import VERDICT_CHOICES
from pipeline.models import Run


class RunFilter(filters.FilterSet):  # type: ignore[misc]
    """Filters for runs by state, verdict, configuration, action and demo flag."""

    state = filters.ChoiceFilter(choices=Run.State.choices, method="by_state")
    verdict = filters.ChoiceFilter(choices=VERDICT_CHOICES, method="by_verdict")
    configuration = filters.CharFilter(method="by_configuration")
    action = filters.NumberFilter()
    demo = filters.BooleanFilter(method="by_demo")

    # A filter must not reveal hidden values.

    def by_state(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return with_shown_state(self.request.user, queryset).filter(Q(shown_state=value))

    def by_demo(self, queryset: QuerySet[Run], name: str, value: bool) -> QuerySet[Run]:
        return shown_models(self.request.user, queryset.filter(demo=value))

    def by_verdict(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return shown_verdicts(self.request.user, queryset.filter(verdict=value))

    def by_configuration(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return shown_models(self.request.user, queryset.filter(configuration__name=value))
