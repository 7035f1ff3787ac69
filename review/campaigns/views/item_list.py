"""Shared code of the two lists of a campaign's items."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest

from review.models import Item, Score


def scores_of_list(stages: tuple[str, ...] = tuple(Score.Stage.values)) -> QuerySet[Score]:
    """Return a queryset of current scores in the model's arm, for a prefetch of all rows on a page."""
    found = Score.objects.filter(current=True, arm="model", stage__in=stages)
    return found.only("item", "stage", "value").order_by("value", "pk")


def given_at(item: Item) -> list[tuple[str, list[int]]]:
    """Return each stage's scores in ascending order. The item's scores must be prefetched as `given`."""
    values: dict[str, list[int]] = {stage: [] for stage in Score.Stage.values}
    for score in item.given:  # type: ignore[attr-defined]
        values[score.stage].append(score.value)
    return [(str(Score.Stage(stage).label), given) for stage, given in values.items()]


def without_page(request: HttpRequest) -> str:
    """Return the query string without page parameters and empty values, for links between a list and its items."""
    parameters = request.GET.copy()
    for name in ("before", "after"):
        parameters.pop(name, None)
    for name in [name for name, value in parameters.items() if not value]:
        del parameters[name]
    return f"?{parameters.urlencode()}" if parameters else ""
