"""Assignments of an item. A manager can assign or reassign the item, or send it back with a reason."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput, Refused
from core.web.requests import signed_in
from review.access import access_managed_item
from review.models import Assignment, Campaign, Item
from review.queue import services

_SHOWN = 50


@require_safe
def item_hands(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the current and past assignments of the item, and the available actions."""
    return _show(request, access_managed_item(signed_in(request), pk))


@require_POST
def item_assign(request: HttpRequest, pk: int) -> HttpResponse:
    """Assign the item to a named reviewer."""
    user = signed_in(request)
    item = access_managed_item(user, pk)
    try:
        given = services.assign(item, to=_person(request, item.campaign), by=user)
    except Refused as refused:
        return _refuse(request, item, refused)
    return _done(request, item, _said_of(given))


@require_POST
def item_take_over(request: HttpRequest, pk: int, assignment: int) -> HttpResponse:
    """Unassign the item. If the form names another reviewer, reassign the item."""
    user = signed_in(request)
    item = access_managed_item(user, pk)
    held, why = _assignment(item, assignment), request.POST.get("why", "")
    try:
        if request.POST.get("to"):
            to = _person(request, item.campaign)
            said = _said_of(services.take_over(held, to=to, by=user, why=why))
        else:
            services.take_back(held, by=user, why=why)
            said = _("Returned to the queue for the next reviewer. All typed text is kept.")
    except Refused as refused:
        return _refuse(request, item, refused, held)
    return _done(request, item, said)


@require_POST
def item_send_back(request: HttpRequest, pk: int, assignment: int) -> HttpResponse:
    """Ask the reviewer to check the item again. Existing scores are preserved."""
    user = signed_in(request)
    item = access_managed_item(user, pk)
    done = _assignment(item, assignment)
    try:
        services.send_back(done, why=request.POST.get("why", ""), by=user)
    except Refused as refused:
        return _refuse(request, item, refused, done)
    return _done(request, item, _("Sent back. The item will be first in the reviewer's queue."))


def people_to_assign(campaign: Campaign) -> QuerySet[User]:
    """Return the users to whom a campaign's items can be assigned: all reviewers, or the members of a study."""
    return services.people_who_review() if campaign.is_live else services.reviewers_for(campaign)


def _assignment(item: Item, pk: int) -> Assignment:
    return get_object_or_404(services.assignments_of(item), pk=pk)


def _person(request: HttpRequest, campaign: Campaign) -> User:
    found = people_to_assign(campaign).filter(username=request.POST.get("to", "")).first()
    if found is None:
        raise BadInput(_("Choose a reviewer from the list."), field="to")
    return found


def _said_of(given: Assignment) -> str:
    said = _("Assigned to %s. The item will be first in their queue.")
    return said % (given.reviewer.get_full_name() or given.reviewer.username)


def _done(request: HttpRequest, item: Item, said: str) -> HttpResponse:
    messages.success(request, said)
    return redirect("item-hands", pk=item.pk)


def _refuse(
    request: HttpRequest, item: Item, refused: Refused, about: Assignment | None = None
) -> HttpResponse:
    context = {
        "refusal": str(refused),
        "refused": about.pk if about else 0,
        "typed": request.POST,
    }
    return _show(request, item, context, status=422 if isinstance(refused, BadInput) else 409)


def _show(
    request: HttpRequest,
    item: Item,
    refused: dict[str, object] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    context = {
        "item": item,
        "hands": services.assignments_of(item)[:_SHOWN],
        "people": people_to_assign(item.campaign),
        **(refused or {}),
    }
    return render(request, "review/queue/item_hands.html", context, status=status)
