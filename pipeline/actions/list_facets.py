"""The list of actions: sort orders, filters with counts, and the total.

`pipeline.access.visible_parts` records each row that shows a user an answer. Counts are not recorded, so they must not
reveal answers that are not on the page. Therefore, answers are counted only for a complete list. If a filter depends on
answers, only the shown actions are counted.
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

# Limits for counting. Beyond them, only the newest actions are counted and the count says "at least". Answers have a
# lower limit, because their status is computed from about ten tables.
MOST_COUNTED = 10_000
MOST_ANSWERS = 500
MOST_NAMES = 12
PAGE_SIZE = 50
TELLING = ("answer", "changed", "state", "verdict")


class Sort(models.TextChoices):
    """The sort orders of the list. The first order is the default."""

    NEWEST = "", gettext_lazy("Newest first")
    OLDEST = "oldest", gettext_lazy("Oldest first")
    SEVERE = "severe", gettext_lazy("Most severe first")
    MILD = "mild", gettext_lazy("Least severe first")
    ASKER = "asker", gettext_lazy("By requester")
    STATEMENT = "statement", gettext_lazy("By request text")


ORDERS: Mapping[str, tuple[str | models.OrderBy, ...]] = {
    Sort.NEWEST: ("-pk",),
    Sort.OLDEST: ("pk",),
    Sort.SEVERE: ("severity", "-pk"),
    Sort.MILD: ("-severity", "pk"),
    Sort.ASKER: (F("asked_by__username").asc(nulls_last=True), "-pk"),
    Sort.STATEMENT: ("statement", "-pk"),
}


class ActionListFilter(ActionFilter):
    """The filters and the sort order of the list page."""

    sort = filters.ChoiceFilter(
        choices=Sort.choices, method="in_order", label=gettext_lazy("Sort by"), empty_label=None
    )

    def in_order(self, queryset: QuerySet[Action], name: str, value: str) -> QuerySet[Action]:
        return queryset.order_by(*ORDERS[value])


@dataclass(frozen=True)
class ActionCounts:
    """The total, and the count for each value of each filter. `is_cut` means that not all actions were counted."""

    total: int
    is_cut: bool
    facets: list[Facet] = field(default_factory=list)


def count_actions(request: HttpRequest, found: ActionListFilter, user: User) -> ActionCounts | None:
    """Return the counts for a valid filter in three queries, or None if the counts could reveal a hidden row."""
    query = request.GET
    is_telling = any(query.get(name) for name in TELLING)
    if is_telling:
        # Evaluate this once. An answer status takes as long as several hundred rows of the other counts.
        keys = list(found.qs.order_by("-pk").values_list("pk", flat=True)[: MOST_ANSWERS + 1])
        total, most = len(keys), MOST_ANSWERS
    else:
        total, most = found.qs.count(), MOST_COUNTED
    if not is_first_page(query) and total <= PAGE_SIZE:
        return None

    def rows_without(name: str) -> QuerySet[Action]:
        """Return the newest actions that match the other filters, or the listed actions for a filter on answers."""
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
    """Return the columns of the list, with links to sort by them."""
    column = partial(sort_column, query, sort)
    return [
        column(_("Request"), "col-title", {Sort.STATEMENT: "ascending"}),
        Column(_("Status"), "col-answer"),
        column(_("Severity"), "col-severity", {Sort.SEVERE: "descending", Sort.MILD: "ascending"}),
        column(_("Requested by"), "col-who", {Sort.ASKER: "ascending"}),
        column(_("Requested"), "col-when", {Sort.NEWEST: "descending", Sort.OLDEST: "ascending"}),
    ]
