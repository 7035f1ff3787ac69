"""Views to request shorter feedback on the review page and to show it next to the reviewer's text."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput, Refused
from core.web.requests import signed_in, wants_fragment
from pipeline.models import Shortening
from review.access import access_item, access_item_to_review
from review.desk import services
from review.desk.views.page_data import show_desk
from review.desk.views.pane_data import read_selection
from review.desk.views.responses import refuse
from review.models import Item


@require_POST
def shorten(request: HttpRequest, pk: int) -> HttpResponse:
    """Request a shorter version of the feedback, which is then shown next to the typed text."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        shortening = services.shorten_feedback(item, text=request.POST.get("feedback", ""), by=user)
    except Refused as refused:
        if not wants_fragment(request):
            return refuse(request, item, refused)
        status = 422 if isinstance(refused, BadInput) else 409
        return _show(request, item, None, problem=str(refused), status=status)
    if wants_fragment(request):
        return _show(request, item, shortening)
    # Without JavaScript, return the full page with all typed text. Submitting the form again shows the result.
    desk = services.open_item(item, user)
    context = show_desk(desk, selection=read_selection(request.POST), typed=request.POST)
    return render(request, "review/desk/desk.html", context | _context(item, shortening))


@require_safe
def shorter(request: HttpRequest, pk: int, shortening: int) -> HttpResponse:
    """Show the state of the request and, when it is done, the shortened text."""
    user = signed_in(request)
    item = access_item(user, pk)
    return _show(request, item, services.access_shortening(item, shortening, by=user))


def _show(
    request: HttpRequest,
    item: Item,
    shortening: Shortening | None,
    *,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    context = _context(item, shortening) | ({"problem": problem} if problem else {})
    return render(request, "review/desk/_shortened_feedback.html", context, status=status)


def _context(item: Item, shortening: Shortening | None) -> dict[str, object]:
    if shortening is None:
        return {"item": item}
    return {
        "item": item,
        "shortening": shortening,
        "problem": shortening.problem,
        "words": len(shortening.shorter.split()),
        "of": len(shortening.text.split()),
    }
