"""Background requests of the review screen: autosave, keep-alive, which tab is open."""

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

# Of each stage its own, so that what was typed for one never stands in the next.
_KEPT = re.compile(
    r"(comment|value)-(script|feedback|refined)-(model|expert|others)|remark(-line)?-\d{1,18}"
    r"|reason|risk_reason|script|feedback|based_on|why|flag"
)


@require_POST
def save_scratch(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what was typed so far; answers with the revision to send the next time."""
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
        return JsonResponse({"message": str(stale), "revision": stale.newest}, status=409)
    except BadInput as bad:
        return JsonResponse({"message": str(bad)}, status=422)
    return JsonResponse({"revision": scratch.revision})


@require_POST
def open_in_tab(request: HttpRequest, pk: int) -> HttpResponse:
    """This tab works on the item from now on; answers with its fence, by which an older tab is told apart."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        fence = queue.open_in_tab(access_assignment(user, item))
    except NotAllowedNow as refused:
        return JsonResponse({"message": str(refused)}, status=409)
    return JsonResponse({"fence": fence})


@require_POST
def keep_alive(request: HttpRequest, pk: int) -> HttpResponse:
    """A sign of life while the page is open; answers with what came back to the person meanwhile."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    assignment = access_assignment(user, item)
    try:
        queue.keep_alive(assignment, fence=read_whole(request, "fence", missing=0))
    except NotAllowedNow as refused:
        return JsonResponse({"message": str(refused)}, status=409)
    place = queue.own_place(item.campaign, user, beside=item.pk)
    return render(request, "review/desk/_came_back.html", {"place": place})
