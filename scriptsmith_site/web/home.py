"""Home: what waits for this person, and a field to ask for the next script."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from catalog import services as catalog
from core.web.requests import signed_in
from pipeline.models import Run
from review import services as review
from review.models import Assignment, Flag

_SHOWN = 8


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Each part is there only for people whose role it is; the number of queries is fixed."""
    user = signed_in(request)
    may_review = user.has_perm("review.review")
    may_curate = user.has_perm("catalog.curate")
    may_manage = user.has_perm("review.manage_campaigns")
    runs = (
        Run.objects.filter(asked_by=user)
        .select_related("action", "configuration", "answered_by__entry")
        .order_by("-pk")[:_SHOWN]
    )
    context: dict[str, object] = {
        "runs": runs,
        "may_ask": user.has_perm("pipeline.ask"),
        "may_review": may_review,
        "may_curate": may_curate,
        "may_manage": may_manage,
        "warnings": catalog.warnings_for(user),
    }
    if may_review:
        queue = review.live_queue()
        waiting = review.waiting_for(queue, user)
        context |= {
            "waiting": waiting.count(),
            "first": waiting.select_related("run__action").order_by(*review.URGENT_FIRST)[:5],
            "held": Assignment.objects.filter(
                reviewer=user, state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING]
            ).select_related("item__run__action")[:_SHOWN],
        }
    if may_curate:
        context["in_review"] = catalog.waiting_to_verify(user)[:_SHOWN]
        context["wordings"] = catalog.waiting_to_confirm(user)[:_SHOWN]
    if may_manage:
        context["flags"] = Flag.objects.filter(resolved_at=None).select_related(
            "item__run__action", "by"
        )[:_SHOWN]
    return render(request, "site/home.html", context)
