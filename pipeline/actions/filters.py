"""Filters of the list of actions, for the page and the API."""

from __future__ import annotations

import django_filters as filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from pipeline.access import shown_verdicts, with_shown_state
from pipeline.display_names import VERDICT_CHOICES
from pipeline.models import Action, Run

_WHOSE = [("mine", _("Mine"))]


class ActionFilter(filters.FilterSet):  # type: ignore[misc]
    """Filters actions by asker, words, and state of their newest run."""

    q = filters.CharFilter(
        field_name="statement",
        lookup_expr="icontains",
        label=_("Statement"),
        widget=forms.SearchInput(),
    )
    whose = filters.ChoiceFilter(
        choices=_WHOSE, method="of_person", label=_("Asked by"), empty_label=_("Everybody")
    )
    state = filters.ChoiceFilter(
        choices=Run.State.choices, method="by_newest_run", label=_("State"), empty_label=_("Any")
    )
    verdict = filters.ChoiceFilter(
        choices=VERDICT_CHOICES,
        method="by_newest_run",
        label=_("First verdict"),
        empty_label=_("Any"),
    )

    def of_person(self, queryset: QuerySet[Action], name: str, value: str) -> QuerySet[Action]:
        return queryset.filter(asked_by=self.request.user)

    def by_newest_run(self, queryset: QuerySet[Action], name: str, value: str) -> QuerySet[Action]:
        newer = Run.objects.filter(action=OuterRef("action"), pk__gt=OuterRef("pk"))
        newest: QuerySet[Run] = Run.objects.filter(~Exists(newer), action=OuterRef("pk"))
        if name == "verdict":
            newest = shown_verdicts(self.request.user, newest.filter(verdict=value))
        else:
            newest = with_shown_state(self.request.user, newest).filter(Q(shown_state=value))
        return queryset.filter(Exists(newest))
