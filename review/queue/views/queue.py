"""The review queue: waiting items, the reviewer's claimed items, and claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from catalog.models import SavedView
from catalog.services import views_of
from core.errors import NotAllowedNow
from core.web.lists import (
    Column,
    filter_context,
    list_context,
    say_count,
    slice_of,
    sort_column,
)
from core.web.requests import signed_in
from review.access import access_item_to_review, access_queue
from review.models import Assignment, Campaign
from review.queue import services
from review.queue.overview.held_items import held_by
from review.queue.overview.waiting_list import (
    MOST_BY_RISK,
    MOST_COUNTED,
    Order,
    WaitingForm,
    WaitingItem,
    WaitingList,
    list_waiting,
)

PAGE_SIZE = 50
LIST = SavedView.Listing.QUEUE


@require_GET
def queue(request: HttpRequest) -> HttpResponse:
    """Show the reviewer's claimed items, and the waiting items that match the query string."""
    user = signed_in(request)
    campaign = access_queue(user)
    form = WaitingForm(request.GET)
    held = held_by(user).filter(item__campaign=campaign)[:20]
    done = (
        Assignment.objects.filter(
            reviewer=user, item__campaign=campaign, state=Assignment.State.SUBMITTED
        )
        .select_related("item__run__action")
        .order_by("-ended_at")[:5]
    )
    context: dict[str, object] = {
        **list_context(request, form, listing=LIST.value),
        "views": views_of(user, LIST),
        "most_by_risk": MOST_BY_RISK,
        "held": held,
        "done": done,
        "pace": services.own_pace(user),
    }
    if not form.is_valid():
        return render(request, "review/queue/queue.html", context, status=422)
    waiting = list_waiting(campaign, user, form)
    page = slice_of(waiting.read, request, size=PAGE_SIZE)
    context |= filter_context(request, form, waiting.facets)
    context |= {
        "page": page,
        "rows": page.rows,
        "said": _say_waiting(waiting),
        "is_cut": waiting.is_cut,
        "columns": _columns(request.GET, form.cleaned_data["sort"]),
        "demo": _say_demo(campaign, page.rows),
    }
    return render(request, "review/queue/queue.html", context)


def _say_waiting(waiting: WaitingList) -> str:
    number = say_count(min(waiting.found, MOST_COUNTED), is_cut=waiting.is_more)
    return ngettext("%s waiting", "%s waiting", waiting.found) % number


def _columns(query: QueryDict, sort: str) -> list[Column]:
    """Return the list's columns. *Requested* sorts oldest first on the first click, and newest first on the second."""
    column = partial(sort_column, query, sort)
    return [
        Column(_("Request"), "col-title"),
        column(_("Severity"), "col-urgency", {"": "descending"}),
        column(_("Risk"), "col-risk", {Order.RISK: "descending"}),
        Column(_("Runs on"), "col-where"),
        column(_("Requested"), "col-when", {Order.OLDEST: "ascending", Order.NEWEST: "descending"}),
        Column(_("Claim"), "col-take", hidden=True),
    ]


def _say_demo(campaign: Campaign, rows: Sequence[WaitingItem]) -> str:
    """Return "all" or "some" if the demo model created runs on the page. Return "" if not, or if models are hidden."""
    if campaign.hides_models:
        return ""
    made = {row.item.run.demo for row in rows if row.item.run}
    return "" if True not in made else "some" if False in made else "all"


@require_POST
def claim_next(request: HttpRequest) -> HttpResponse:
    """Claim the next item, or report that no item is waiting."""
    user = signed_in(request)
    campaign = access_queue(user)
    assignment = services.claim_next(campaign, by=user)
    if assignment is None:
        messages.info(request, _("Nothing is waiting for you now."))
        return redirect("queue")
    return redirect("item-review", pk=assignment.item_id)


@require_POST
def claim_item(request: HttpRequest, pk: int) -> HttpResponse:
    """Claim a specific item."""
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
    """Claim a run's item from the run page. Add the run to the queue first if needed."""
    user = signed_in(request)
    access_queue(user)
    item = services.item_of_run(pk)
    if item is None:
        messages.error(request, _("This run can't be reviewed yet, because it has no script."))
        return redirect("run-detail", pk=pk)
    if item.state != item.State.OPEN:
        return redirect("item-review", pk=item.pk)
    return claim_item(request, item.pk)
