"""/metrics for Prometheus, behind an API token with the scope `metrics`, which opens nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.conf import settings
from django.db import connections
from django.db.models import Count, Min
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from core.web.requests import signed_in
from pipeline.models import Run
from review.models import Item
from review.services import live_queue
from scriptsmith_site.models import ApiToken
from scriptsmith_site.operation.health import (
    Health,
    check_broker,
    check_database,
    check_embedder,
)
from scriptsmith_site.people.sign_in.authentication import ApiTokenAuthentication
from scriptsmith_site.people.sign_in.tokens import may_read_metrics


class Sample(NamedTuple):
    """One line: a name, a label with its value or none, a number."""

    name: str
    number: float
    label: str = ""
    value: str = ""

    def __str__(self) -> str:
        labels = f'{{{self.label}="{self.value}"}}' if self.label else ""
        return f"scriptsmith_{self.name}{labels} {self.number:g}"


HELP = {
    "info": "The version that is running.",
    "up": "Whether a part answers.",
    "runs": "Unfinished runs.",
    "oldest_queued_run_seconds": "How long the run has waited that has waited longest.",
    "items_waiting": "Items of the live queue that want a reviewer.",
}


class MayReadMetrics(BasePermission):
    """An administrator's or a service account's token; the scope alone outlives a role."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return may_read_metrics(signed_in(request))


@extend_schema(exclude=True)
class Metrics(APIView):
    """By token only: a browser that is signed in has the page of the operation for it."""

    authentication_classes = [ApiTokenAuthentication]
    permission_classes = [IsAuthenticated, MayReadMetrics]
    reading_scope = ApiToken.Scope.METRICS

    def get(self, request: Request) -> HttpResponse:
        return HttpResponse(
            "\n".join(lines_of(list(take_samples()))), content_type="text/plain; version=0.0.4"
        )


def take_samples() -> Iterator[Sample]:
    """What is worth an alarm; each a question that an index answers."""
    yield Sample("info", 1, "version", settings.VERSION)
    parts = {
        "database": check_database(connections["default"]),
        "broker": check_broker(settings.CELERY_BROKER_URL),
        "embedder": check_embedder(),
    }
    for part, health in parts.items():
        yield Sample("up", health is Health.OK, "part", part)
    unfinished = Run.objects.unfinished()
    counted = dict(unfinished.order_by().values_list("state").annotate(Count("pk")))
    for state in (Run.State.QUEUED, Run.State.RUNNING):
        yield Sample("runs", counted.get(state, 0), "state", state)
    oldest = unfinished.filter(state=Run.State.QUEUED).aggregate(at=Min("created_at"))["at"]
    waited = (timezone.now() - oldest).total_seconds() if oldest else 0
    yield Sample("oldest_queued_run_seconds", waited)
    yield Sample("items_waiting", Item.objects.waiting().filter(campaign=live_queue()).count())


def lines_of(samples: list[Sample]) -> Iterator[str]:
    """The text that Prometheus reads; samples of one name must follow each other."""
    described = ""
    for sample in samples:
        if sample.name != described:
            described = sample.name
            yield f"# HELP scriptsmith_{described} {HELP[described]}"
            yield f"# TYPE scriptsmith_{described} gauge"
        yield str(sample)
    yield ""
