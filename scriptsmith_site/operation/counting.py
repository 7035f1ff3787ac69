"""Count requests and runs for metrics and traces, without revealing data that a blinded study hides."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from core import metrics, tracing
from pipeline.models import Run

# The number of requests to the review page depends on the verdict, because flagged scripts have more to score.
_DESK = "review.desk"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})


class CountRequestsMiddleware:
    """Middleware that counts each request by view and status class, and measures its duration."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        begun = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - begun
        match = request.resolver_match
        is_desk = match is not None and match.func.__module__.startswith(_DESK)
        if is_desk and response.status_code < 500:
            return response
        view = (match.view_name or match.route) if match is not None else "none"
        metrics.count(metrics.HTTP_REQUESTS, view[:80], f"{response.status_code // 100}xx")
        if not is_desk:
            method = request.method if request.method in _METHODS else "other"
            metrics.observe(metrics.HTTP_SECONDS, seconds, str(method))
            if tracing.tracer is not None:
                _trace(str(method), match.route if match else "", response.status_code, seconds)
        return response


def _trace(method: str, route: str, status: int, seconds: float) -> None:
    """Record a span with the URL pattern, because the URL itself may contain tokens and search text."""
    attributes: dict[str, str | int] = {
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": status,
    }
    now = timezone.now()
    begun = now - timedelta(seconds=seconds)
    tracing.record_alone(
        f"{method} {route}".strip(), attributes, begun=begun, ended=now, failed=status >= 500
    )


def count_settled(run_id: int) -> None:
    """Count a run that finished for the first time. Later refinements by experts are not counted."""
    run = Run.objects.filter(pk=run_id, refinements=None).values_list("origin", "state").first()
    if run is not None:
        metrics.count(metrics.RUNS, *run)
