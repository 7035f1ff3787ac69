"""The list of actions: its orders, its filters with their counts, and how many actions there are.

Whoever is shown an answer is recorded by the row that shows it (`pipeline.access.visible_parts`). A count of answers
is recorded nowhere, so it must tell of no action whose row is not on the page: answers are counted only beside a
whole list, and where a filter tells of answers, what is counted is what the list shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import django_filters as filters
from django.contrib.auth.models import User
from django.db import models
from django.db.models import F, QuerySet
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.database.key_lists import is_among
from core.database.value_counts import Counted, count_values
from core.web.lists import Column, Facet, is_first_page, sort_column
from pipeline.access import access_actions
from pipeline.actions.filters import ActionFilter
from pipeline.models import Action
from pipeline.runs.answers import count_statuses, newest_of

# Of more actions the newest are counted, and a count says "at least". The status of an answer is worked out from
# some ten tables.
MOST_COUNTED = 10_000
MOST_ANSWERS = 500
MOST_NAMES = 12
PAGE_SIZE = 50
TELLING = ("answer", "changed", "state", "verdict")


class Sort(models.TextChoices):
    """How the list is ordered; the first is the default."""

    NEWEST = "", gettext_lazy("Newest first")
    OLDEST = "oldest", gettext_lazy("Oldest first")
    SEVERE = "severe", gettext_lazy("Most severe first")
    MILD = "mild", gettext_lazy("Least severe first")
    ASKER = "asker", gettext_lazy("By who asked")
    STATEMENT = "statement", gettext_lazy("By statement")


ORDERS: Mapping[str, tuple[str | models.OrderBy, ...]] = {
    Sort.NEWEST: ("-pk",),
    Sort.OLDEST: ("pk",),
    Sort.SEVERE: ("severity", "-pk"),
    Sort.MILD: ("-severity", "pk"),
    Sort.ASKER: (F("asked_by__username").asc(nulls_last=True), "-pk"),
    Sort.STATEMENT: ("statement", "-pk"),
}


class ActionListFilter(ActionFilter):
    """The filters and the order of the page."""

    sort = filters.ChoiceFilter(
        choices=Sort.choices, method="in_order", label=gettext_lazy("Order"), empty_label=None
    )

    def in_order(self, queryset: QuerySet[Action], name: str, value: str) -> QuerySet[Action]:
        return queryset.order_by(*ORDERS[value])


@dataclass(frozen=True)
class ActionCounts:
    """How many actions fit, and how many would with each value of each filter; `is_cut` if not all were counted."""

    total: int
    is_cut: bool
    facets: list[Facet] = field(default_factory=list)


def count_actions(request: HttpRequest, found: ActionListFilter, user: User) -> ActionCounts | None:
    """The counts of a valid filter, in three queries; None where they could tell of a row that is not shown."""
    query = request.GET
    is_telling = any(query.get(name) for name in TELLING)
    if is_telling:
        # Looked for once: each status that is looked at costs as much as some hundred rows of the other counts.
        keys = list(found.qs.order_by("-pk").values_list("pk", flat=True)[: MOST_ANSWERS + 1])
        total, most = len(keys), MOST_ANSWERS
    else:
        total, most = found.qs.count(), MOST_COUNTED
    if not is_first_page(query) and total <= PAGE_SIZE:
        return None

    def rows_without(name: str) -> QuerySet[Action]:
        """The newest actions that fit the other filters, or those of the list."""
        if is_telling:
            return Action.objects.filter(is_among("pk", keys[:most]))
        others = found
        if query.get(name):
            others = ActionListFilter(
                _without(query, name), queryset=access_actions(user), request=request
            )
        return Action.objects.filter(pk__in=others.qs.order_by("-pk").values("pk")[:most])

    wanted = {
        "severity": Counted(rows_without("severity"), "severity"),
        "by": Counted(rows_without("by"), "asked_by__username", MOST_NAMES),
        "source": Counted(rows_without("source"), "source"),
    }
    every = {} if is_telling else {"severity": [str(one) for one in Action.Severity.values]}
    facets = [
        Facet(name, one.numbers, every=every.get(name, ()), is_cut=one.rows >= most)
        for name, one in count_values(wanted).items()
    ]
    if not is_telling:
        newest = found.qs.order_by("-pk").values("pk")[:MOST_ANSWERS]
        numbers = count_statuses(user, newest_of(newest))
        is_full = sum(numbers.values()) >= MOST_ANSWERS
        facets.insert(0, Facet("answer", numbers, is_cut=is_full))
    is_cut = is_telling and total > most
    return ActionCounts(most if is_cut else total, is_cut, facets)


def _without(query: QueryDict, name: str) -> QueryDict:
    others = query.copy()
    others.pop(name, None)
    return others


def columns_of(query: QueryDict, sort: str) -> list[Column]:
    """The columns of the list; those that it can be sorted by are links."""
    column = partial(sort_column, query, sort)
    return [
        column(_("Statement"), "col-title", {Sort.STATEMENT: "ascending"}),
        Column(_("Answer"), "col-answer"),
        column(_("Severity"), "col-severity", {Sort.SEVERE: "descending", Sort.MILD: "ascending"}),
        column(_("Asked by"), "col-who", {Sort.ASKER: "ascending"}),
        column(_("When"), "col-when", {Sort.NEWEST: "descending", Sort.OLDEST: "ascending"}),
    ]
