"""Dispatch each step of a campaign's setup to its view."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from review.campaigns.views.items import campaign_fill
from review.campaigns.views.planning import campaign_size
from review.campaigns.views.steps import FORMS, campaign_arms, campaign_rules, campaign_start


def campaign_step(request: HttpRequest, pk: int, step: str) -> HttpResponse:
    """Call the view of the step with this name."""
    if step in FORMS:
        return campaign_rules(request, pk, step)
    if step == "items":
        return campaign_fill(request, pk)
    if step == "arms":
        return campaign_arms(request, pk)
    if step == "size":
        return campaign_size(request, pk)
    if step == "start":
        return campaign_start(request, pk)
    raise Http404
