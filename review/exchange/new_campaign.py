"""The page that creates a study from a name and an optional file of items."""

from __future__ import annotations

from dataclasses import replace

from django.contrib.auth.models import User
from django.core.files.base import File
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from core.errors import BadInput
from core.web.requests import signed_in
from review.access import access_campaigns
from review.campaigns.services import Rules, create_campaign, preset_rules
from review.exchange.forms import NewForm
from review.exchange.services import keep_to_look
from review.models import Campaign

_EARLIER = 10


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_new(request: HttpRequest) -> HttpResponse:
    """Create a campaign, then show the preview of its file or, without a file, the setup page."""
    user = signed_in(request)
    earlier = access_campaigns(user).order_by("-pk")[:_EARLIER]
    is_sent = request.method == "POST"
    form = NewForm(request.POST, request.FILES) if is_sent else NewForm()
    if form.is_valid():
        given = form.cleaned_data
        rules = replace(preset_rules(given["preset"]), description=given["description"])
        try:
            campaign, word = _create(given["name"], rules, file=given["file"], by=user)
        except BadInput as refusal:
            form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
        else:
            if word:
                return redirect("campaign-import-look", pk=campaign.pk, word=word)
            return redirect("campaign-step", pk=campaign.pk, step="items")
    context = {"form": form, "earlier": earlier, "had_file": bool(request.FILES)}
    status = 422 if form.errors else 200
    return render(request, "review/campaigns/new.html", context, status=status)


@transaction.atomic
def _create(name: str, rules: Rules, *, file: File[bytes] | None, by: User) -> tuple[Campaign, str]:
    """Return the new campaign and the token of its file's preview, or "" if it has no file."""
    campaign = create_campaign(name, by=by, rules=rules)
    if file is None:
        return campaign, ""
    word = keep_to_look(campaign, "", file, mapping={}, format="", by=by)
    return campaign, word
