"""Adjudication pages: the list of items where reviewers differ, and a page for each item with keyboard shortcuts."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput, NotAllowedNow, Refused
from core.web.requests import page_of, signed_in
from review.access import access_campaign
from review.campaigns import services
from review.campaigns.evidence import read_evidence
from review.campaigns.item_filters import DisputeFilter, place_of
from review.campaigns.services import check_adjudicator, differences
from review.campaigns.views.head import head_of
from review.campaigns.views.item_list import given_at, scores_of_list, without_page
from review.counting.tallies import count_due
from review.evidence.item_evidence import read_item_evidence
from review.models import Campaign, Item

PAGE_SIZE = 50
_MOST_DUE = 500


@require_safe
def campaign_disputes(request: HttpRequest, pk: int) -> HttpResponse:
    """List the items that are waiting for an adjudicator or were adjudicated, filtered by the query string."""
    campaign = access_campaign(signed_in(request), pk)
    count_due(campaign, most=_MOST_DUE)
    filters = DisputeFilter(campaign, request.GET)
    listed = filters.qs.select_related("case__action", "configuration").prefetch_related(
        Prefetch("scores", queryset=scores_of_list(), to_attr="given")
    )
    page = page_of(listed, request, size=PAGE_SIZE)
    context = {
        **head_of(campaign, "campaign-disputes"),
        "form": filters.form,
        "is_filtered": filters.is_filtered,
        "page": page,
        "rows": [(item, given_at(item)) for item in page.rows],
        "query": without_page(request),
        "settled": filters.form.data.get("state") == DisputeFilter.SETTLED,
    }
    return render(request, "review/campaigns/adjudication_list.html", context)


@require_safe
def campaign_dispute(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Show an item with its texts and each reviewer's scores."""
    return _show(request, _item(request, pk, item))


@require_POST
def campaign_adjudicate(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Save a stage's final score with a reason, then show the next stage or the next item in the list."""
    user, found = signed_in(request), _item(request, pk, item)
    value = _chosen(request)
    # Find the neighbors first, because the item is removed from the list when it is settled.
    place = place_of(DisputeFilter(found.campaign, request.GET).qs, found.pk)
    try:
        services.adjudicate(
            found,
            stage=request.POST.get("stage", ""),
            arm=request.POST.get("arm", "model"),
            value=-1 if value is None else value,
            why=request.POST.get("why", ""),
            by=user,
        )
    except Refused as refusal:
        status = 422 if isinstance(refusal, BadInput) else 409
        return _show(request, found, refusal=refusal, status=status)
    if any(one.adjudication is None for one in differences(found)):
        return redirect(_address(request, "campaign-dispute", pk, item))
    messages.success(request, _("Final score saved."))
    # Count due items first, so that the list no longer contains the settled item.
    count_due(found.campaign, most=_MOST_DUE)
    following = _still_there(request, found, place.next, place.previous)
    if following is None:
        return redirect(_address(request, "campaign-disputes", pk))
    return redirect(_address(request, "campaign-dispute", pk, following))


def _still_there(request: HttpRequest, settled: Item, *keys: int | None) -> int | None:
    """Return the first of these items that is still in the list, or else the newest item, if any.

    One adjudication may settle multiple items.
    """
    left = DisputeFilter(settled.campaign, request.GET).qs.exclude(pk=settled.pk)
    for key in keys:
        if key is not None and left.filter(pk=key).exists():
            return key
    newest: Item | None = left.order_by("-pk").first()
    return newest.pk if newest else None


def _item(request: HttpRequest, pk: int, item: int) -> Item:
    campaign: Campaign = access_campaign(signed_in(request), pk)
    return get_object_or_404(
        campaign.items.select_related("campaign", "case__action", "configuration", "run__action"),
        pk=item,
    )


def _show(
    request: HttpRequest, item: Item, *, refusal: Refused | None = None, status: int = 200
) -> HttpResponse:
    if item.run is None:
        raise NotAllowedNow(_("This item has no script."))
    names = "names" in request.GET
    evidence = read_evidence(item, signed_in(request), names=names)
    place = place_of(DisputeFilter(item.campaign, request.GET).qs, item.pk)
    other = request.GET.copy()
    other.pop("names", None)
    if not names:
        other["names"] = "1"
    context = {
        **head_of(item.campaign, "campaign-disputes"),
        "item": item,
        "evidence": evidence,
        "execution": read_item_evidence(item, item.run),
        "action": evidence.action,
        "place": place,
        "query": without_page(request),
        "typed": request.POST,
        "chosen": _chosen(request),
        "refusal": refusal,
        "refused_field": refusal.field if isinstance(refusal, BadInput) else "",
        "barred": _barred(item, request),
        "names": names,
        "other_names": f"{reverse('campaign-dispute', args=[item.campaign_id, item.pk])}?{other.urlencode()}",
    }
    return render(request, "review/campaigns/adjudication.html", context, status=status)


def _chosen(request: HttpRequest) -> int | None:
    """Return the submitted score, or None if it is invalid."""
    value = request.POST.get("value", "")
    return int(value) if value in ("0", "1", "2") else None


def _barred(item: Item, request: HttpRequest) -> str:
    """Return the reason why this user may not adjudicate the item, or an empty string."""
    try:
        check_adjudicator(item, signed_in(request))
    except PermissionDenied as refusal:
        return str(refusal)
    return ""


def _address(request: HttpRequest, name: str, *keys: int) -> str:
    """Return the URL of a page, with the current filters of the list."""
    return reverse(name, args=keys) + without_page(request)
