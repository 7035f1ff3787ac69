"""Filters for the action list, for the page and the API."""

from __future__ import annotations

import django_filters as filters
from django import forms
from django.db.models import Exists, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from core.database.words import has_every_word
from pipeline.access import shown_verdicts, with_shown_state
from pipeline.display_names import ANSWER_CHOICES, VERDICT_CHOICES
from pipeline.models import Action, Run
from pipeline.runs.answers import newest_runs, with_answer_status, with_news

_WHOSE = [("mine", _("Mine"))]


class ActionFilter(filters.FilterSet):  # type: ignore[misc]
    """Filters for actions by requester, words, answer and the state of the newest run."""

    q = filters.CharFilter(
        method="with_words",
        label=_("Request text"),
        widget=forms.SearchInput(),
    )
    whose = filters.ChoiceFilter(
        choices=_WHOSE, method="of_person", label=_("Requested by"), empty_label=_("Anyone")
    )
    answer = filters.ChoiceFilter(
        choices=ANSWER_CHOICES, method="by_newest_run", label=_("Status"), empty_label=_("Any")
    )
    severity = filters.ChoiceFilter(
        choices=Action.Severity.choices, label=_("Severity"), empty_label=_("Any")
    )
    by = filters.CharFilter(
        field_name="asked_by__username", label=_("Requested by"), max_length=150
    )
    source = filters.ChoiceFilter(
        choices=Action.Source.choices, label=_("Source"), empty_label=_("Any")
    )
    changed = filters.BooleanFilter(
        method="since_looked", label=_("Updated"), widget=forms.HiddenInput()
    )
    state = filters.ChoiceFilter(
        choices=Run.State.choices,
        method="by_newest_run",
        label=_("Run state"),
        empty_label=_("Any"),
    )
    verdict = filters.ChoiceFilter(
        choices=VERDICT_CHOICES,
        method="by_newest_run",
        label=_("First verdict"),
        empty_label=_("Any"),
    )

    def with_words(self, queryset: QuerySet[Action], name: str, value: str) -> QuerySet[Action]:
        return queryset.filter(has_every_word("statement", value))

    def of_person(self, queryset: QuerySet[Action], name: str, value: str) -> QuerySet[Action]:
        return queryset.filter(asked_by=self.request.user)

    def since_looked(
        self, queryset: QuerySet[Action], name: str, value: bool | None
    ) -> QuerySet[Action]:
        return with_news(self.request.user, queryset) if value else queryset

    def by_newest_run(self, queryset: QuerySet[Action], name: str, value: str) -> QuerySet[Action]:
        newest, user = newest_runs(), self.request.user
        if name == "verdict":
            newest = shown_verdicts(user, newest.filter(verdict=value))
        elif name == "answer":
            newest = with_answer_status(user, newest).filter(Q(answer_status=value))
        else:
            newest = with_shown_state(user, newest).filter(Q(shown_state=value))
        return queryset.filter(Exists(newest))
