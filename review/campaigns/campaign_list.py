"""Filters and sort orders of the campaign list. Each filter value shows its number of campaigns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django import forms
from django.db import models
from django.db.models import Case, Count, QuerySet, Value, When
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.database.value_counts import Counted, count_values
from core.database.words import has_every_word
from core.web.lists import Column, Facet, sort_column
from review.models import Campaign, scored_elsewhere

MOST_NAMES = 12
_ANY = ("", gettext_lazy("Any"))
OPEN, INVITED = "all", "invited"


class Sort(models.TextChoices):
    """The sort orders of the campaign list. The first value is the default."""

    NEWEST = "", gettext_lazy("Newest first")
    OLDEST = "oldest", gettext_lazy("Oldest first")
    NAME = "name", gettext_lazy("Name")
    STATE = "state", gettext_lazy("State, ongoing first")
    PEOPLE = "people", gettext_lazy("Most reviewers first")


class CampaignListForm(forms.Form):
    """The filters and the sort order of the campaign list."""

    q = forms.CharField(
        label=gettext_lazy("Name"), required=False, max_length=150, widget=forms.SearchInput
    )
    state = forms.ChoiceField(
        label=gettext_lazy("State"), required=False, choices=[_ANY, *Campaign.State.choices]
    )
    reviewers = forms.ChoiceField(
        label=gettext_lazy("Reviewers"),
        required=False,
        choices=[_ANY, (OPEN, gettext_lazy("Every reviewer")), (INVITED, gettext_lazy("Invited"))],
    )
    by = forms.CharField(label=gettext_lazy("Created by"), required=False, max_length=150)
    sort = forms.ChoiceField(label=gettext_lazy("Order"), required=False, choices=Sort.choices)


def narrow(campaigns: QuerySet[Campaign], chosen: Mapping[str, Any]) -> QuerySet[Campaign]:
    """Return the campaigns that match the cleaned data of a form."""
    if chosen["q"]:
        campaigns = campaigns.filter(has_every_word("name", chosen["q"]))
    if chosen["state"]:
        campaigns = campaigns.filter(state=chosen["state"])
    if chosen["reviewers"]:
        campaigns = campaigns.filter(open_to_all=chosen["reviewers"] == OPEN)
    if chosen["by"]:
        campaigns = campaigns.filter(created_by__username=chosen["by"])
    return campaigns


def in_order(campaigns: QuerySet[Campaign], sort: Sort) -> QuerySet[Campaign]:
    """Return the campaigns in this order, annotated with `people`, the number of reviewers."""
    states = Campaign.State
    under_way = [states.OPEN, states.PILOT, states.PAUSED, states.SETUP, states.CLOSED]
    place = Case(*(When(state=one, then=Value(number)) for number, one in enumerate(under_way)))
    orders: Mapping[Sort, tuple[Any, ...]] = {
        Sort.NEWEST: ("-pk",),
        Sort.OLDEST: ("pk",),
        Sort.NAME: ("name",),
        Sort.STATE: (place, "-pk"),
        Sort.PEOPLE: ("-open_to_all", "-people", "-pk"),
    }
    found = campaigns.annotate(**{"is_scored_elsewhere": scored_elsewhere()})
    return found.annotate(people=Count("members")).order_by(*orders[sort])


def count_facets(campaigns: QuerySet[Campaign], chosen: Mapping[str, Any]) -> list[Facet]:
    """Return the filters with the number of campaigns for each value, in one query."""

    def without(name: str) -> QuerySet[Campaign]:
        return narrow(campaigns, {**chosen, name: ""})

    kind = Case(When(open_to_all=True, then=Value(OPEN)), default=Value(INVITED))
    counts = count_values(
        {
            "state": Counted(without("state"), "state"),
            "reviewers": Counted(without("reviewers").annotate(who=kind), "who"),
            "by": Counted(without("by"), "created_by__username", MOST_NAMES),
        }
    )
    every = {"state": Campaign.State.values}
    return [Facet(name, one.numbers, every=every.get(name, ())) for name, one in counts.items()]


def columns_of(query: QueryDict, sort: Sort) -> list[Column]:
    """Return the columns of the list. Sortable columns are links."""
    column = partial(sort_column, query, sort)
    return [
        column(_("Study"), "col-title", {Sort.NAME: "ascending"}),
        column(_("State"), "col-state", {Sort.STATE: "ascending"}),
        Column(_("Progress"), "col-progress"),
        Column(_("Items"), "num col-items"),
        column(_("Reviewers"), "num col-people", {Sort.PEOPLE: "descending"}),
        column(_("Created"), "col-when", {Sort.NEWEST: "descending", Sort.OLDEST: "ascending"}),
    ]
