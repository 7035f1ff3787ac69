"""Counts requests and runs for /metrics, and nothing that a blinded study hides."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from core import metrics
from pipeline.models import Run

# How often a reviewer sends something there depends on the verdict: what was flagged has more to score.
_DESK = "review.desk"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})


class CountRequestsMiddleware:
    """Each request by its address and class of status, and how long it took."""

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
        return response


def count_settled(run_id: int) -> None:
    """A run has ended for the first time: what experts ask for later, where it was flagged, is not counted."""
    run = Run.objects.filter(pk=run_id, refinements=None).values_list("origin", "state").first()
    if run is not None:
        metrics.count(metrics.RUNS, *run)
