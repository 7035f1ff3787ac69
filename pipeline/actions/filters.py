"""What lists of actions and runs are narrowed to, by the pages' forms and the API alike."""

from __future__ import annotations

import django_filters as filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from pipeline.access import shown_models, shown_verdicts, with_shown_state
from pipeline.models import Action, Run
from pipeline.types import Verdict

_WHOSE = [("mine", _("Mine"))]
# The words of the verdict badges: a pass is the assessor's, and is not called correct.
_VERDICTS = [
    (Verdict.CORRECT.value, _("Passed")),
    (Verdict.INCORRECT.value, _("Flagged")),
    (Verdict.UNKNOWN.value, _("Unknown")),
]


class ActionFilter(filters.FilterSet):  # type: ignore[misc]
    """Actions by who asked, by words, and by how their newest run stands."""

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
        choices=_VERDICTS, method="by_newest_run", label=_("First verdict"), empty_label=_("Any")
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


class RunFilter(filters.FilterSet):  # type: ignore[misc]
    """Runs by how they stand, by Action and by Configuration."""

    state = filters.ChoiceFilter(choices=Run.State.choices, method="by_state")
    verdict = filters.ChoiceFilter(choices=_VERDICTS, method="by_verdict")
    configuration = filters.CharFilter(method="by_configuration")
    action = filters.NumberFilter()
    demo = filters.BooleanFilter(method="by_demo")

    # What is not shown is not found either.

    def by_state(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return with_shown_state(self.request.user, queryset).filter(Q(shown_state=value))

    def by_demo(self, queryset: QuerySet[Run], name: str, value: bool) -> QuerySet[Run]:
        return shown_models(self.request.user, queryset.filter(demo=value))

    def by_verdict(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return shown_verdicts(self.request.user, queryset.filter(verdict=value))

    def by_configuration(self, queryset: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return shown_models(self.request.user, queryset.filter(configuration__name=value))
