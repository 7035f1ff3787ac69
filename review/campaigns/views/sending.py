"""The view that sends selected items of a closed study to the review queue."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from core.errors import Refused
from core.web.requests import signed_in
from review.access import access_campaign
from review.campaigns.services import MOST_AT_ONCE, Sent, send_to_live_queue
from review.models import Campaign

_MOST_DIGITS = 18


@require_POST
def campaign_send(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the selected items, then redirect to the list where they were selected."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    ticked = [
        int(one)
        for one in request.POST.getlist("item")[: MOST_AT_ONCE + 1]
        if one.isdecimal() and len(one) <= _MOST_DIGITS
    ]
    try:
        sent = send_to_live_queue(campaign, list(campaign.items.filter(pk__in=ticked)), by=user)
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        (messages.success if sent.made else messages.warning)(request, _say(sent))
    return redirect(_way_back(request, campaign))


def _say(sent: Sent) -> str:
    said = ngettext(
        "%s item was sent to the review queue.",
        "%s items were sent to the review queue.",
        sent.made,
    )
    others = [
        (sent.there, _("%s already in the review queue")),
        (sent.without, _("%s without a script")),
        (sent.studied, _("%s in another study that is not closed")),
    ]
    left = ", ".join(words % f"{count:,}" for count, words in others if count)
    return (
        f"{said % f'{sent.made:,}'} {_('Not sent: %s.') % left}"
        if left
        else said % f"{sent.made:,}"
    )


def _way_back(request: HttpRequest, campaign: Campaign) -> str:
    back = request.POST.get("next", "")
    homes = (
        reverse("campaign-items", args=[campaign.pk]),
        reverse("campaign-report", args=[campaign.pk]),
    )
    if back.startswith(homes) and url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return back
    return homes[0]
