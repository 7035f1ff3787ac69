"""Responses of the review page: the same item, the next item or an error, each as an htmx fragment or a full page."""

from __future__ import annotations

import json
from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from core.errors import BadInput, NotAllowedNow, Refused
from core.web.requests import signed_in, wants_fragment
from review.access import access_item
from review.desk import services
from review.desk.views.page_data import show_desk
from review.desk.views.pane_data import read_selection
from review.models import Assignment, Item
from review.queue import services as queue


def show_item(
    request: HttpRequest, pk: int, *, said: str = "", assignment: Assignment | None = None
) -> HttpResponse:
    """Show an item after a change, and update the browser's URL if the item is different."""
    url = reverse("item-review", args=[pk])
    if not wants_fragment(request):
        if said:
            messages.success(request, said)
        return redirect(url)
    user = signed_in(request)
    desk = services.open_item(access_item(user, pk), user, assignment=assignment)
    answer = render(
        request, "review/desk/_desk.html", show_desk(desk, selection=read_selection(request.POST))
    )
    if url != request.htmx.current_url_abs_path:  # type: ignore[attr-defined]
        answer["HX-Push-Url"] = url
    if said:
        toast = {"text": said, "tone": "success", "id": "done"}
        answer["HX-Trigger"] = json.dumps({"toast": toast})
    return answer


def show_next(request: HttpRequest, item: Item, *, said: str = "") -> HttpResponse:
    """Show the reviewer's next item in the same campaign, or the queue if no item is waiting.

    Claim the item only now, so that no item is assigned to a reviewer who has not opened it.
    """
    try:
        assignment = queue.claim_following(item.campaign, by=signed_in(request))
    except NotAllowedNow as refused:
        assignment, said = None, " ".join([said, str(refused)]).strip()
    if assignment is None:
        if said:
            messages.success(request, said)
        return go(request, queue_of(item))
    return show_item(request, assignment.item_id, said=said, assignment=assignment)


def refuse(request: HttpRequest, item: Item, refused: Refused) -> HttpResponse:
    """Show the same page with all typed text, and the error next to the rejected input."""
    user = signed_in(request)
    desk = services.open_item(access_item(user, item.pk), user)
    is_fragment = wants_fragment(request)
    context = show_desk(
        desk,
        selection=replace(
            read_selection(request.POST), page=reverse("item-review", args=[item.pk])
        ),
        typed=request.POST,
        refused=refused,
        whole=not is_fragment,
    )
    template = "review/desk/_desk.html" if is_fragment else "review/desk/desk.html"
    return render(request, template, context, status=422 if isinstance(refused, BadInput) else 409)


def queue_of(item: Item) -> str:
    """Return the URL of the review queue or of the study's list of items."""
    if item.campaign.is_live:
        return reverse("queue")
    return reverse("study-queue", args=[item.campaign_id])


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect to a URL.

    For htmx, use the `HX-Redirect` header, because htmx would insert a redirected page as a fragment.
    """
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return redirect(url)


def read_whole(request: HttpRequest, name: str, *, missing: int) -> int:
    """Return a submitted whole number, or `missing` if the value is not a whole number."""
    value = request.POST.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 19 else missing


def read_fence(request: HttpRequest) -> int | None:
    """Return the fence of the tab that sent the request, or None without JavaScript."""
    return read_whole(request, "fence", missing=-1) if "fence" in request.POST else None


def read_seconds(request: HttpRequest) -> float | None:
    """Return the active seconds that the page counted for a stage, or None if the value is invalid."""
    try:
        seconds = float(request.POST.get("active_seconds", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
