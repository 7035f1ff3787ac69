"""Filters for lists of a campaign's items, and the position of an item in such a list."""

from __future__ import annotations

from dataclasses import dataclass

import django_filters as filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from pipeline.models import Configuration
from review.models import Adjudication, Campaign, Case, Item, Score

# Larger counts are shown as "more than 1,000", so that the time to count does not depend on the length of the list.
MOST_COUNTED = 1_000
SPREADS = {
    "any": _("Scores differ"),
    "02": _("0 and 2"),
    "01": _("0 and 1"),
    "12": _("1 and 2"),
}


class ItemFilter(filters.FilterSet):  # type: ignore[misc]
    """Filters items by statement, state, purpose, configuration, and the spread of their scores at a stage."""

    q = filters.CharFilter(
        method="by_words",
        label=_("Statement"),
        widget=forms.SearchInput(),
    )
    state = filters.ChoiceFilter(
        choices=Item.State.choices, label=_("State"), empty_label=_("Any state")
    )
    purpose = filters.ChoiceFilter(
        field_name="case__purpose",
        choices=Case.Purpose.choices,
        label=_("Purpose"),
        empty_label=_("Any purpose"),
    )
    arm = filters.ModelChoiceFilter(
        field_name="configuration",
        to_field_name="name",
        queryset=Configuration.objects.none(),
        label=_("Configuration"),
        empty_label=_("Any configuration"),
    )
    stage = filters.ChoiceFilter(
        choices=Score.Stage.choices, method="by_stage", label=_("Stage"), empty_label=_("Any stage")
    )
    spread = filters.ChoiceFilter(
        choices=list(SPREADS.items()),
        method="by_spread",
        label=_("Scores"),
        empty_label=_("Any scores"),
    )

    class Meta:
        model = Item
        fields: tuple[str, ...] = ()

    def __init__(self, campaign: Campaign, data: object) -> None:
        super().__init__(data, queryset=campaign.items.all())
        self.filters["arm"].queryset = arms_of(campaign)

    @property
    def is_filtered(self) -> bool:
        """Return whether the query string restricts the list."""
        return any(self.data.get(name) for name in self.filters)

    def by_words(self, queryset: QuerySet[Item], name: str, value: str) -> QuerySet[Item]:
        return queryset.filter(case__action__statement__icontains=value)

    def by_stage(self, queryset: QuerySet[Item], name: str, value: str) -> QuerySet[Item]:
        """Return items that were scored at this stage. If a spread is selected, `by_spread` uses the stage instead."""
        if self.form.cleaned_data.get("spread"):
            return queryset
        return queryset.filter(_has_score(value))

    def by_spread(self, queryset: QuerySet[Item], name: str, value: str) -> QuerySet[Item]:
        stage = self.form.cleaned_data.get("stage")
        wanted = Q()
        for one in [stage] if stage else Score.Stage.values:
            wanted |= _spreads(one, value)
        return queryset.filter(wanted)


class DisputeFilter(ItemFilter):
    """Filters items where reviewers differ: items to adjudicate, or adjudicated items."""

    SETTLED = "settled"

    state = filters.ChoiceFilter(
        choices=[(SETTLED, _("Adjudicated"))],
        method="by_settled",
        label=_("State"),
        empty_label=_("To adjudicate"),
    )
    purpose = None

    def by_settled(self, queryset: QuerySet[Item], name: str, value: str) -> QuerySet[Item]:
        return queryset

    def filter_queryset(self, queryset: QuerySet[Item]) -> QuerySet[Item]:
        if self.form.cleaned_data.get("state") == self.SETTLED:
            words = Adjudication.objects.filter(item=OuterRef("pk"), current=True)
            queryset = queryset.filter(Exists(words), disputed=False)
        else:
            queryset = queryset.filter(disputed=True)
        found: QuerySet[Item] = super().filter_queryset(queryset)
        return found


def arms_of(campaign: Campaign) -> QuerySet[Configuration]:
    """Return the configurations that the campaign runs or has counted items for, sorted by name."""
    counted = campaign.tallies.order_by().values("configuration")
    chosen = campaign.configurations.order_by().values("pk")
    return Configuration.objects.filter(Q(pk__in=counted) | Q(pk__in=chosen)).order_by("name")


def _spreads(stage: str, spread: str) -> Q:
    """Return a condition for items with this spread of scores at a stage."""
    zero, one, two = (_has_score(stage, value) for value in Score.Value.values)
    if spread == "02":
        return Q(zero, two)
    if spread == "01":
        return Q(zero, one) & ~Q(two)
    if spread == "12":
        return Q(one, two) & ~Q(zero)
    return Q(zero, one) | Q(zero, two) | Q(one, two)


def _has_score(stage: str, value: int | None = None) -> Exists:
    given = Score.objects.filter(item=OuterRef("pk"), current=True, stage=stage)
    return Exists(given if value is None else given.filter(value=value))


@dataclass(frozen=True)
class Place:
    """The position of an item in a list, newest first.

    `number` is None if the item is not in the list or after the first MOST_COUNTED items.
    """

    number: int | None
    total: int
    previous: int | None
    next: int | None

    @property
    def is_more(self) -> bool:
        """Return whether the list has more items than were counted."""
        return self.total > MOST_COUNTED


def place_of(items: QuerySet[Item], pk: int) -> Place:
    """Return the item's position in the list and its neighbors, even if the item is not in the list."""
    keys = items.order_by().values_list("pk", flat=True)
    upwards = keys.filter(pk__gte=pk).order_by("pk")[: MOST_COUNTED + 1]
    before = list(upwards)
    is_here = bool(before) and before[0] == pk
    above = before[1:] if is_here else before
    return Place(
        number=len(before) if is_here and len(before) <= MOST_COUNTED else None,
        total=keys[: MOST_COUNTED + 1].count(),
        previous=above[0] if above else None,
        next=keys.filter(pk__lt=pk).order_by("-pk").first(),
    )
