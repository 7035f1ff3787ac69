"""Filters for the API's lists of items and assignments."""

from __future__ import annotations

from typing import Any

import django_filters as filters
from django.db.models import QuerySet

from core.web.public_keys import ITEM, find_key
from review.models import Assignment, Item


class ItemKeyFilter(filters.NumberFilter):  # type: ignore[misc]
    """A filter by an item's public key."""

    def filter(self, qs: QuerySet[Any], value: Any) -> QuerySet[Any]:
        key = None if value is None else find_key(ITEM, int(value))
        found: QuerySet[Any] = super().filter(qs, key)
        return found


class QueueFilter(filters.FilterSet):  # type: ignore[misc]
    """Filters for waiting items. The model filters exclude campaigns that hide models."""

    configuration = filters.NumberFilter(method="by_models")
    run__demo = filters.BooleanFilter(method="by_models")

    class Meta:
        model = Item
        fields = {"priority": ["exact", "gte"]}

    def by_models(self, queryset: QuerySet[Item], name: str, value: object) -> QuerySet[Item]:
        return queryset.filter(campaign__hides_models=False, **{name: value})


class AssignmentFilter(filters.FilterSet):  # type: ignore[misc]
    """Filters for assignments."""

    item = ItemKeyFilter()

    class Meta:
        model = Assignment
        fields = {
            "state": ["exact"],
            "item__campaign": ["exact"],
            "reviewer__username": ["exact"],
        }
