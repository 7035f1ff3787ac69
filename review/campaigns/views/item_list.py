"""Shared parts of the two lists of a campaign's items: the scores of a row, and the query string."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest

from review.models import Item, Score


def scores_of_list(stages: tuple[str, ...] = tuple(Score.Stage.values)) -> QuerySet[Score]:
    """Return the current scores of the model's arm, to fetch them for all rows of a page at once."""
    found = Score.objects.filter(current=True, arm="model", stage__in=stages)
    return found.only("item", "stage", "value").order_by("value", "pk")


def given_at(item: Item) -> list[tuple[str, list[int]]]:
    """Return each stage's scores in ascending order. The item must have been read with its scores as `given`."""
    values: dict[str, list[int]] = {stage: [] for stage in Score.Stage.values}
    for score in item.given:  # type: ignore[attr-defined]
        values[score.stage].append(score.value)
    return [(str(Score.Stage(stage).label), given) for stage, given in values.items()]


def without_page(request: HttpRequest) -> str:
    """Return the query string of a list's filters, for links between the list and its items, or ""."""
    parameters = request.GET.copy()
    for name in ("before", "after"):
        parameters.pop(name, None)
    for name in [name for name, value in parameters.items() if not value]:
        del parameters[name]
    return f"?{parameters.urlencode()}" if parameters else ""
