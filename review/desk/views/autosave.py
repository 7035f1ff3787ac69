"""Background requests of the review page: autosave, keep-alive and the active tab."""

from __future__ import annotations

import re

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from core.errors import BadInput, NotAllowedNow, Stale
from core.web.requests import signed_in
from review.access import access_assignment, access_item_to_review
from review.desk import services
from review.desk.views.responses import read_whole
from review.queue import services as queue

# The names contain the stage, so that text typed at one stage never appears at the next stage.
_KEPT = re.compile(
    r"(comment|value)-(script|feedback|refined)-(model|expert|others)|remark(-line)?-\d{1,18}"
    r"|reason|risk_reason|script|feedback|based_on|why|flag"
)


@require_POST
def save_scratch(request: HttpRequest, pk: int) -> HttpResponse:
    """Save the typed text. The response contains the revision to send with the next request."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    access_assignment(user, item)
    fields: dict[str, object] = {
        name: value for name, value in request.POST.items() if _KEPT.fullmatch(name)
    }
    try:
        scratch = services.save_scratch(
            item, by=user, fields=fields, revision=read_whole(request, "revision", missing=0)
        )
    except Stale as stale:
        # Include the saved fields, so that the page can recognize its own earlier request, which is not a conflict.
        kept = item.scratches.get(reviewer=user).fields
        said = {"message": str(stale), "revision": stale.newest}
        same = {name: kept[name] for name in fields if name in kept}
        return JsonResponse({**said, "fields": same}, status=409)
    except BadInput as bad:
        return JsonResponse({"message": str(bad)}, status=422)
    return JsonResponse({"revision": scratch.revision})


@require_POST
def open_in_tab(request: HttpRequest, pk: int) -> HttpResponse:
    """Make this tab the active tab for the item, and return its fence. Requests with an older fence are rejected."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        fence = queue.open_in_tab(access_assignment(user, item))
    except NotAllowedNow as refused:
        return JsonResponse({"message": str(refused)}, status=409)
    return JsonResponse({"fence": fence})


@require_POST
def keep_alive(request: HttpRequest, pk: int) -> HttpResponse:
    """Renew the claim while the page is open. The response shows which items have returned to the reviewer."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    assignment = access_assignment(user, item)
    try:
        queue.keep_alive(assignment, fence=read_whole(request, "fence", missing=0))
    except NotAllowedNow as refused:
        return JsonResponse({"message": str(refused)}, status=409)
    campaign = item.campaign
    place = queue.own_place(campaign, user, beside=item.pk)
    answer = render(request, "review/desk/_came_back.html", {"place": place})
    if campaign.is_live:
        # Update the counts in the page header, which is not reloaded with each item.
        most = queue.MOST_COUNTED + 1
        left = queue.count_waiting_for(campaign, user, most=most)
        known = queue.count_today(campaign, user) + queue.count_held(campaign, user)
        answer["X-Waiting"] = str(min(left, queue.MOST_COUNTED))
        answer["X-Total"] = f"{known + left - 1}+" if left == most else str(known + left)
    return answer
