"""Pages for a reviewer's studies."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import NotAllowedNow
from core.web.requests import signed_in
from review.access import access_queue, access_study
from review.models import Assignment, Campaign
from review.queue import services

_SHOWN = 20


@require_safe
def study_list(request: HttpRequest) -> HttpResponse:
    """List the user's active studies, with the number of waiting items in each."""
    user = signed_in(request)
    access_queue(user)
    context = {"studies": services.studies_of(user), "most": services.MOST_COUNTED}
    return render(request, "review/queue/study_list.html", context)


@require_safe
def study_queue(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one study: the reviewer's task, claimed items and recently finished items."""
    user = signed_in(request)
    campaign = access_study(user, pk)
    mine = (
        Assignment.objects.filter(reviewer=user, item__campaign=campaign)
        .select_related("item__run__action")
        .order_by("-pk")
    )
    context = {
        "campaign": campaign,
        "study": services.read_studies([campaign], user)[0],
        "most": services.MOST_COUNTED,
        "is_open": campaign.state in (Campaign.State.OPEN, Campaign.State.PILOT),
        "rubric": campaign.rubrics.order_by("-number").first(),
        "held": mine.filter(state__in=[Assignment.State.ACTIVE, Assignment.State.WAITING])[:_SHOWN],
        "pace": services.own_pace(user),
        "last": mine.filter(state=Assignment.State.SUBMITTED)[:5],
    }
    return render(request, "review/queue/study_queue.html", context)


@require_POST
def study_next(request: HttpRequest, pk: int) -> HttpResponse:
    """Claim the next item of a study, or explain why no item is available."""
    user = signed_in(request)
    campaign = access_study(user, pk)
    try:
        assignment = services.claim_next(campaign, by=user)
    except NotAllowedNow as refused:
        messages.info(request, str(refused))
        return redirect("study-queue", pk=pk)
    if assignment is None:
        messages.info(request, _("Nothing is waiting for you now."))
        return redirect("study-queue", pk=pk)
    return redirect("item-review", pk=assignment.item_id)
