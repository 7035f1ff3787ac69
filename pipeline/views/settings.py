"""Endpoints and configurations, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from pipeline.access import access_configurations, access_endpoints, signed_in
from pipeline.configurations import has_key, is_usable
from pipeline.models import Configuration, Endpoint


@dataclass(frozen=True)
class ShownEndpoint:
    """An endpoint, and what the environment says about it."""

    endpoint: Endpoint
    has_key: bool
    on_by_setting: bool
    rests: bool


@dataclass(frozen=True)
class ShownConfiguration:
    """A configuration, and whether a run can be started under it now."""

    configuration: Configuration
    usable: bool


@require_safe
def endpoint_list(request: HttpRequest) -> HttpResponse:
    """Where models are asked; the keys themselves are shown nowhere."""
    endpoints = [_show_endpoint(one) for one in access_endpoints(signed_in(request))]
    return render(request, "pipeline/endpoint_list.html", {"endpoints": endpoints})


@require_safe
def configuration_list(request: HttpRequest) -> HttpResponse:
    """Who writes, who assesses, who refines, in how many rounds."""
    found = access_configurations(signed_in(request), to_manage=True)
    shown = [ShownConfiguration(one, is_usable(one)) for one in found]
    return render(request, "pipeline/configuration_list.html", {"configurations": shown})


def _show_endpoint(endpoint: Endpoint) -> ShownEndpoint:
    blocked = endpoint.blocked_until
    return ShownEndpoint(
        endpoint=endpoint,
        has_key=has_key(endpoint),
        on_by_setting=endpoint.name in settings.SCRIPTSMITH_ENDPOINTS,
        rests=blocked is not None and blocked > timezone.now(),
    )
