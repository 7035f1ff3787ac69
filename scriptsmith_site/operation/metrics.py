"""The /metrics endpoint for Prometheus.

It requires an API token with the `metrics` scope, which grants nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.models import Count, Max, Min, Q, QuerySet
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from catalog.models import Job, OutcomeReport
from catalog.services import results_waiting
from core import metrics
from core.web.requests import signed_in
from pipeline.models import Run
from review.models import Item, Transfer
from review.services import live_queue
from scriptsmith_site.models import (
    AlertDelivery,
    AlertTally,
    ApiToken,
    BackupEvent,
    Delivery,
    Event,
    Notification,
)
from scriptsmith_site.operation import work
from scriptsmith_site.operation.health import (
    Health,
    check_broker,
    check_database,
    check_embedder,
)
from scriptsmith_site.people.sign_in.authentication import ApiTokenAuthentication
from scriptsmith_site.people.sign_in.tokens import may_read_metrics

_UNFINISHED = (Run.State.QUEUED, Run.State.RUNNING)


class MayReadMetrics(BasePermission):
    """A permission for administrators and service accounts, because tokens keep their scopes when users lose roles."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return may_read_metrics(signed_in(request))


@extend_schema(exclude=True)
class Metrics(APIView):
    """The metrics endpoint, which accepts tokens only. Signed-in users have the operation page."""

    authentication_classes = [ApiTokenAuthentication]
    permission_classes = [IsAuthenticated, MayReadMetrics]
    reading_scope = ApiToken.Scope.METRICS

    def get(self, request: Request) -> HttpResponse:
        registry = CollectorRegistry(auto_describe=False)
        self.fill(registry)
        return HttpResponse(
            generate_latest(registry), content_type="text/plain; version=0.0.4; charset=utf-8"
        )

    def fill(self, registry: CollectorRegistry) -> None:
        """Register the collectors."""
        registry.register(Counted())
        registry.register(Present())


class Counted(Collector):
    """The counts of all processes that share this data folder, since the start of the product."""

    def collect(self) -> Iterator[Metric]:
        yield from metrics.collect()


class Present(Collector):
    """The current state, read from the database with indexed queries at each scrape."""

    def collect(self) -> Iterator[Metric]:
        yield _gauge("info", "The running version.", {settings.VERSION: 1.0}, "version")
        parts = {
            "database": check_database(connections["default"]),
            "broker": check_broker(settings.CELERY_BROKER_URL),
            "embedder": check_embedder(),
        }
        up = {part: float(health is Health.OK) for part, health in parts.items()}
        yield _gauge("up", "Whether a component works.", up, "part")
        yield from _present()


def _present() -> Iterator[Metric]:
    now = timezone.now()
    unfinished = Run.objects.unfinished()
    counted = dict(unfinished.order_by().values_list("state").annotate(Count("pk")))
    runs = {state.value: float(counted.get(state, 0)) for state in _UNFINISHED}
    yield _gauge("runs", "Unfinished runs.", runs, "state")
    queued = unfinished.filter(state=Run.State.QUEUED)
    # A run that continues for a refinement was created long ago, so it does not count toward the age of a queue.
    first = queued.aggregate(
        any=Min("created_at"),
        people=Min("created_at", filter=Q(batch=None, finished_at=None)),
        campaigns=Min("created_at", filter=Q(batch__isnull=False, finished_at=None)),
    )
    oldest = {
        "interactive": first["people"],
        "campaign": first["campaigns"],
        "execution": _oldest(results_waiting()),
        "jobs": _oldest(Job.objects.filter(state=Job.State.WAITING)),
        "transfers": _oldest(Transfer.objects.filter(state=Transfer.State.WAITING)),
        "alerts": _oldest(AlertDelivery.objects.filter(state=AlertDelivery.State.WAITING)),
        "outbox": Event.objects.filter(distributed_at=None).aggregate(at=Min("at"))["at"],
        "deliveries": _oldest_undelivered(),
        # An email waits from its due time, because until then the user's settings delay it.
        "mail": Notification.objects.filter(mail_at__lte=now).aggregate(at=Min("mail_at"))["at"],
    }
    waited = (now - first["any"]).total_seconds() if first["any"] else 0.0
    ages = {name: (now - at).total_seconds() if at else 0.0 for name, at in oldest.items()}
    yield _gauge(
        "oldest_queued_run_seconds",
        "Waiting time of the oldest queued run.",
        {"": waited},
    )
    yield _gauge(
        "queue_age_seconds",
        "Waiting time of the oldest job in a queue; 0 if the queue is empty.",
        ages,
        "queue",
    )
    waiting = Item.objects.waiting().filter(campaign=live_queue()).count()
    yield _gauge("items_waiting", "Items in the review queue without a reviewer.", {"": waiting})
    yield _gauge("workers", "Workers with a recent heartbeat.", {"": work.living_workers().count()})
    resting = {endpoint.name: 1.0 for endpoint in work.endpoints_at_rest()}
    yield _gauge("endpoint_resting", "Endpoints that are paused for now.", resting, "endpoint")
    yield _gauge(
        "outcome_reports_waiting",
        "Unchecked reports by agents that a script made things worse.",
        {"": OutcomeReport.objects.to_look_at().order_by().count()},
    )
    yield _alerts()
    backup = BackupEvent.objects.filter(kind=BackupEvent.Kind.BACKUP).aggregate(at=Max("at"))["at"]
    yield _gauge(
        "last_backup_timestamp_seconds",
        "Time of the last backup; 0 without a backup.",
        {"": backup.timestamp() if backup else 0.0},
    )


def _oldest(jobs: QuerySet[Any]) -> datetime | None:
    found: datetime | None = jobs.order_by().aggregate(at=Min("created_at"))["at"]
    return found


def _oldest_undelivered() -> datetime | None:
    """Return the time of the oldest waiting event. Event IDs are almost exactly in time order."""
    waiting = Delivery.objects.filter(
        state=Delivery.State.WAITING, destination__paused_at=None
    ).order_by()
    first = waiting.aggregate(event=Min("event"))["event"]
    return Event.objects.filter(pk=first).values_list("at", flat=True).first() if first else None


def _alerts() -> Metric:
    """Return the tallies of alert sources. All processes share the tallies, which count only stored alerts."""
    counter = CounterMetricFamily(
        "scriptsmith_alerts", "Alerts received from sources, by result.", labels=["kind", "result"]
    )
    found: dict[tuple[str, str], int] = defaultdict(int)
    for kind, what, count in AlertTally.objects.order_by().values_list(
        "source__kind", "what", "count"
    ):
        # Omit the reason for a rejection, which the source's page shows.
        found[kind, what.partition(":")[0]] += count
    for labels, number in sorted(found.items()):
        counter.add_metric(labels, float(number))
    return counter


def _gauge(name: str, words: str, numbers: Mapping[str, float], label: str = "") -> Metric:
    gauge = GaugeMetricFamily(f"scriptsmith_{name}", words, labels=[label] if label else [])
    for value, number in numbers.items():
        gauge.add_metric([value] if label else [], float(number))
    return gauge
