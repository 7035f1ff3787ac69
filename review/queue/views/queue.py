"""The live queue: what waits, what one holds, and the way to the next item."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from core.errors import NotAllowedNow
from core.web.requests import signed_in
from review.access import access_item_to_review, access_queue
from review.models import Assignment
from review.queue import services

_SHOWN = 50


@require_GET
def queue(request: HttpRequest) -> HttpResponse:
    """What waits for this person, and what they hold."""
    user = signed_in(request)
    campaign = access_queue(user)
    waiting = services.waiting_for(campaign, user)
    items = waiting.select_related("run__action", "run__configuration").order_by(
        *services.URGENT_FIRST
    )[:_SHOWN]
    held = (
        Assignment.objects.filter(
            reviewer=user,
            item__campaign=campaign,
            state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING],
        )
        .select_related("item__run__action")
        .order_by("-pk")[:20]
    )
    done = (
        Assignment.objects.filter(
            reviewer=user, item__campaign=campaign, state=Assignment.State.SUBMITTED
        )
        .select_related("item__run__action")
        .order_by("-ended_at")[:5]
    )
    return render(
        request,
        "review/queue/queue.html",
        {
            "items": items,
            "hides_models": campaign.hides_models,
            "count": waiting.count(),
            "held": held,
            "done": done,
            "pace": services.own_pace(user),
        },
    )


@require_POST
def claim_next(request: HttpRequest) -> HttpResponse:
    """Take the next item, or say that nothing waits."""
    user = signed_in(request)
    campaign = access_queue(user)
    assignment = services.claim_next(campaign, by=user)
    if assignment is None:
        messages.info(request, _("Nothing waits for you at the moment."))
        return redirect("queue")
    return redirect("item-review", pk=assignment.item_id)


@require_POST
def claim_item(request: HttpRequest, pk: int) -> HttpResponse:
    """Take one certain item."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        services.claim_item(item, by=user)
    except NotAllowedNow as refused:
        messages.error(request, str(refused))
        if item.campaign.is_live:
            return redirect("queue")
        return redirect("study-queue", pk=item.campaign_id)
    return redirect("item-review", pk=pk)


@require_POST
def review_run(request: HttpRequest, pk: int) -> HttpResponse:
    """From a run's page straight to its review: take its item, putting it into the queue where it is not there."""
    user = signed_in(request)
    access_queue(user)
    item = services.item_of_run(pk)
    if item is None:
        messages.error(request, _("This run can't be reviewed: it has no script yet."))
        return redirect("run-detail", pk=pk)
    if item.state != item.State.OPEN:
        return redirect("item-review", pk=item.pk)
    return claim_item(request, item.pk)
