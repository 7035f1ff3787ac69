"""Views to add items to a campaign from actions and runs, and to list, show and change its items."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.errors import BadInput, NotAllowedNow, Refused
from core.web.requests import page_of, signed_in
from pipeline.access import access_actions, access_runs
from pipeline.models import Action, Run
from review.access import access_campaign
from review.campaigns import services
from review.campaigns.evidence import read_evidence
from review.campaigns.item_filters import ItemFilter, place_of
from review.campaigns.item_forms import EXECUTION_REASONS, KnownForm, SearchForm
from review.campaigns.views.head import head_of
from review.campaigns.views.item_list import given_at, scores_of_list, without_page
from review.campaigns.views.steps import step_context
from review.evidence.item_evidence import read_item_evidence
from review.models import Campaign, Case, Item
from review.queue import services as queue

_SHOWN = 50
PAGE_SIZE = 50


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_fill(request: HttpRequest, pk: int) -> HttpResponse:
    """Search actions or finished runs, and add the selected results or all results."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    form = SearchForm(request.POST if request.method == "POST" else request.GET)
    context: dict[str, object] = {**step_context(campaign, "items"), "form": form}
    if not form.is_valid():
        return render(request, "review/campaigns/setup_items.html", context, status=422)
    of_runs = form.cleaned_data["kind"] == "runs"
    found = _found_runs(user, campaign, form) if of_runs else _found_actions(user, campaign, form)
    if request.method == "POST":
        return _add(request, campaign, found)
    context |= {
        "of_runs": of_runs,
        "found": found[:_SHOWN],
        "count": found[: services.MOST_AT_ONCE].count(),
        "most": services.MOST_AT_ONCE,
        "cases": campaign.cases.count(),
    }
    return render(request, "review/campaigns/setup_items.html", context)


@require_safe
def campaign_items(request: HttpRequest, pk: int) -> HttpResponse:
    """List the items, filtered by the query string."""
    campaign = access_campaign(signed_in(request), pk)
    filters = ItemFilter(campaign, request.GET)
    listed = filters.qs.select_related(
        "case__action", "case__repeats", "configuration"
    ).prefetch_related(Prefetch("scores", queryset=scores_of_list(), to_attr="given"))
    page = page_of(listed, request, size=PAGE_SIZE)
    context = {
        **head_of(campaign, "campaign-items"),
        "form": filters.form,
        "is_filtered": filters.is_filtered,
        "page": page,
        "rows": [(item, given_at(item)) for item in page.rows],
        "query": without_page(request),
        "address": request.get_full_path(),
        "in_queue": services.runs_in_queue(one.run_id for one in page.rows if one.run_id)
        if campaign.state == Campaign.State.CLOSED
        else set(),
    }
    return render(request, "review/campaigns/items.html", context)


@require_safe
def campaign_item(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Show an item with its texts, scores, assignments and purpose."""
    found = _item(request, pk, item)
    return _show_item(request, found, KnownForm(initial=_known_of(found)))


@require_POST
def campaign_item_known(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Set the purpose of the item's case, with the correct scores if it is gold or training."""
    found, form = _item(request, pk, item), KnownForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            queue.mark_case(
                found.case,
                form.cleaned_data["purpose"],
                known=form.known(),
                by=signed_in(request),
            )
        except BadInput as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            status = 409
        else:
            messages.success(request, _("Purpose saved."))
            return redirect("campaign-item", pk=pk, item=item)
    return _show_item(request, found, form, status=status)


@require_POST
def campaign_item_assign(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Assign the item to the chosen reviewer, or add the reviewer to break a tie."""
    user, found = signed_in(request), _item(request, pk, item)
    people = queue.reviewers_for(found.campaign)
    reviewer = people.filter(username=request.POST.get("user", "")).first()
    try:
        if reviewer is None:
            raise BadInput(_("Choose a reviewer from the list."), field="user")
        if request.POST.get("do") == "call_in":
            services.call_in(found, reviewer, by=user)
        else:
            queue.assign(found, to=reviewer, by=user)
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        said = _("Assigned to %s. The item will be first in their queue.")
        messages.success(request, said % (reviewer.get_full_name() or reviewer.username))
    return redirect("campaign-item", pk=pk, item=item)


@require_POST
def campaign_item_withdraw(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Withdraw the item from the study."""
    found, why = _item(request, pk, item), request.POST.get("why", "")
    try:
        services.withdraw(found, why=why, by=signed_in(request))
    except Refused as refusal:
        form = KnownForm(initial=_known_of(found))
        status = 422 if isinstance(refusal, BadInput) else 409
        return _show_item(request, found, form, refusal=str(refusal), why=why, status=status)
    messages.success(
        request,
        _("Withdrawn. The item is no longer assigned, and it is excluded from all figures."),
    )
    return redirect("campaign-item", pk=pk, item=item)


def _item(request: HttpRequest, pk: int, item: int) -> Item:
    campaign = access_campaign(signed_in(request), pk)
    return get_object_or_404(
        campaign.items.select_related(
            "campaign", "case__action", "case__repeats", "configuration", "run__action"
        ),
        pk=item,
    )


def _show_item(
    request: HttpRequest,
    item: Item,
    form: KnownForm,
    *,
    refusal: str = "",
    why: str = "",
    status: int = 200,
) -> HttpResponse:
    evidence = read_evidence(item, signed_in(request), names=True) if item.run else None
    context = {
        **head_of(item.campaign, "campaign-items"),
        "item": item,
        "evidence": evidence,
        "execution": read_item_evidence(item, item.run),
        "action": item.case.action,
        "place": place_of(ItemFilter(item.campaign, request.GET).qs, item.pk),
        "query": without_page(request),
        "form": form,
        "assignments": item.assignments.select_related("reviewer").order_by("-pk")[:50],
        "people": queue.reviewers_for(item.campaign),
        "reasons": EXECUTION_REASONS.items(),
        "refusal": refusal,
        "why": why,
    }
    return render(request, "review/campaigns/item.html", context, status=status)


def _known_of(item: Item) -> dict[str, object]:
    return {"purpose": item.case.purpose, **item.case.known}


def _found_actions(user: User, campaign: Campaign, form: SearchForm) -> QuerySet[Action]:
    there = Case.objects.filter(campaign=campaign, action=OuterRef("pk"))
    found = access_actions(user).filter(~Exists(there), erased_at=None)
    if form.cleaned_data["q"]:
        found = found.filter(statement__icontains=form.cleaned_data["q"])
    return found.order_by("-pk")


def _found_runs(user: User, campaign: Campaign, form: SearchForm) -> QuerySet[Run]:
    there = Item.objects.filter(
        campaign=campaign, case__action=OuterRef("action"), configuration=OuterRef("configuration")
    )
    found = access_runs(user).filter(
        ~Exists(there),
        state=Run.State.DONE,
        recommended__isnull=False,
        answered_by=None,
        action__erased_at=None,
    )
    if form.cleaned_data["q"]:
        found = found.filter(action__statement__icontains=form.cleaned_data["q"])
    return found.order_by("-pk")


def _add(
    request: HttpRequest, campaign: Campaign, found: QuerySet[Action] | QuerySet[Run]
) -> HttpResponse:
    if "all" not in request.POST:
        ticked = [int(one) for one in request.POST.getlist("chosen") if one.isdecimal()]
        found = found.filter(pk__in=ticked[: services.MOST_AT_ONCE])
    rows = list(found[: services.MOST_AT_ONCE])
    user = signed_in(request)
    try:
        runs = [row for row in rows if isinstance(row, Run)]
        actions = [row for row in rows if isinstance(row, Action)]
        made = (
            services.add_runs(campaign, runs, by=user)
            if runs
            else services.add_actions(campaign, actions, by=user)
        )
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        said = ngettext("%s item was added.", "%s items were added.", made)
        messages.success(request, said % f"{made:,}")
    return redirect(f"{request.path}?{request.GET.urlencode()}")
