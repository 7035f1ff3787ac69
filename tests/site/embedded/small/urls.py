"""Views for the small product."""

from __future__ import annotations

import os

from django.http import HttpRequest, HttpResponse
from django.urls import path

LOADED_BY = os.getpid()


def healthz(request: HttpRequest) -> HttpResponse:
    return HttpResponse(str(os.getpid()))


def loaded_by(request: HttpRequest) -> HttpResponse:
    """Respond with the ID of the process that loaded the views."""
    return HttpResponse(str(LOADED_BY))


urlpatterns = [path("healthz", healthz), path("loaded-by", loaded_by)]
