"""Responses of the review page: the same item, the next one or a refusal, as a fragment for htmx or as a page."""

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
    """Show an item after a change, and update the browser's URL if it is another item."""
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
    """Show the reviewer's next item of the same campaign, or the queue if no item is waiting.

    The item is claimed only now, so that no item is held for a reviewer who has not opened it.
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
    """Show the same page with all typed text, and the reason next to the input."""
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
    """Return the URL of the item's list: the review queue or the study's list."""
    if item.campaign.is_live:
        return reverse("queue")
    return reverse("study-queue", args=[item.campaign_id])


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect. A header makes htmx load the page, because it would otherwise insert the page into the fragment."""
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return redirect(url)


def read_whole(request: HttpRequest, name: str, *, missing: int) -> int:
    """Return a submitted whole number, or `missing` if it is not a number."""
    value = request.POST.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 19 else missing


def read_fence(request: HttpRequest) -> int | None:
    """Return the fence of the tab that sends the request, or None without JavaScript."""
    return read_whole(request, "fence", missing=-1) if "fence" in request.POST else None


def read_seconds(request: HttpRequest) -> float | None:
    """Return the active seconds on a stage as counted by the page, or None if the count is invalid."""
    try:
        seconds = float(request.POST.get("active_seconds", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
