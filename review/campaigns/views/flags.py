"""Views to list and answer flags, which are problems with items that reviewers reported."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput, Refused
from core.web.requests import page_of, signed_in
from review.access import access_campaign, access_campaigns
from review.campaigns import services
from review.campaigns.views.head import head_of
from review.models import Campaign, Flag

PAGE_SIZE = 50


@require_safe
def flag_list(request: HttpRequest) -> HttpResponse:
    """List the flags in all campaigns and in the review queue."""
    access_campaigns(signed_in(request))
    return _show(request, None)


@require_safe
def campaign_flags(request: HttpRequest, pk: int) -> HttpResponse:
    """List the flags in a campaign."""
    return _show(request, access_campaign(signed_in(request), pk))


@require_POST
def flag_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer a flag, and optionally withdraw the item from its study."""
    user = signed_in(request)
    access_campaigns(user)
    flag = get_object_or_404(Flag.objects.select_related("item__campaign"), pk=pk)
    campaign = None if flag.item.campaign.is_live else flag.item.campaign
    text = request.POST.get("resolution", "")
    try:
        services.answer_flag(flag, resolution=text, by=user, withdraws="withdraw" in request.POST)
    except Refused as refusal:
        status = 422 if isinstance(refusal, BadInput) else 409
        refused = {"refused": flag.pk, "refusal": str(refusal), "typed": text}
        return _show(request, campaign, refused, status=status)
    messages.success(request, _("Answer saved."))
    if campaign is None or "everywhere" in request.POST:
        return redirect("flag-list")
    return redirect("campaign-flags", pk=campaign.pk)


def _show(
    request: HttpRequest,
    campaign: Campaign | None,
    refused: dict[str, object] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    answered = request.GET.get("answered") == "yes"
    found = Flag.objects.filter(resolved_at__isnull=not answered).select_related(
        "item__campaign", "item__case__action", "by", "resolved_by"
    )
    if campaign is not None:
        found = found.filter(item__campaign=campaign)
    context: dict[str, object] = {
        **(head_of(campaign, "campaign-flags") if campaign else {"campaign": None}),
        "page": page_of(found, request, size=PAGE_SIZE),
        "answered": answered,
        **(refused or {}),
    }
    return render(request, "review/campaigns/flag_list.html", context, status=status)
