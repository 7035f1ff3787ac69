"""The dashboard of a campaign, with its budget and a switch to pause its runs."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.contenttypes.models import ContentType
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from core.errors import Refused
from core.web.requests import signed_in, wants_fragment
from pipeline.services import pause_batch, resume_batch
from review.access import access_campaign
from review.campaigns import services
from review.campaigns.dashboard import Dashboard, read_dashboard
from review.campaigns.forms import BudgetForm
from review.campaigns.services import count_missing_runs, is_undecided
from review.campaigns.views.head import head_of
from review.models import Campaign


@require_safe
@vary_on_headers("HX-Request")
def campaign_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the state of a campaign. The page polls the fragment while the state can change."""
    campaign = access_campaign(signed_in(request), pk)
    if wants_fragment(request):
        return render(request, "review/campaigns/_dashboard.html", _context(campaign))
    return _show(request, campaign, BudgetForm(campaign=campaign))


@require_POST
def campaign_budget(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the campaign's budget. Paused runs are not resumed."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    form = BudgetForm(request.POST, campaign=campaign)
    if form.is_valid():
        services.change_campaign(campaign, by=user, **form.changed_rules())
        messages.success(request, _("Budget saved."))
        return redirect("campaign-detail", pk=pk)
    return _show(request, campaign, form, status=422)


@require_POST
def campaign_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause or resume the campaign's runs."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    try:
        if campaign.batch and request.POST.get("do") == "resume":
            resume_batch(campaign.batch, by=user)
        elif campaign.batch:
            pause_batch(campaign.batch, by=user, why=_("Paused manually."))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("campaign-detail", pk=pk)


def _show(
    request: HttpRequest, campaign: Campaign, form: BudgetForm, *, status: int = 200
) -> HttpResponse:
    context = {
        **head_of(campaign, "campaign-detail"),
        **_context(campaign),
        "rubric_undecided": is_undecided(campaign),
        "audit_kind": ContentType.objects.get_for_model(Campaign).pk,
        "missing": sum(count_missing_runs(campaign).values()),
        "form": form,
    }
    return render(request, "review/campaigns/dashboard.html", context, status=status)


def _context(campaign: Campaign) -> dict[str, object]:
    board = read_dashboard(campaign)
    return {
        "campaign": campaign,
        "board": board,
        "parts": _parts(board),
        "days": [(date_format(day, "j M"), [count]) for day, count in board.days],
        "done_lately": any(count for _day, count in board.days),
        "series": [_("reviews done")],
        "is_moving": campaign.state in (Campaign.State.PILOT, Campaign.State.OPEN)
        or bool(board.progress.preparing),
    }


def _parts(board: Dashboard) -> list[dict[str, object]]:
    """Return the segments of the progress bar, with their offsets in percent."""
    progress, offset = board.progress, 0.0
    parts: list[dict[str, object]] = []
    for label, count, series in (
        (_("done"), progress.closed, "1"),
        (_("in preparation"), progress.preparing, "2"),
        (_("on hold"), progress.held, "3"),
        # Items to review are the empty part of the bar.
        (_("to review"), progress.open, "rest"),
    ):
        if not count and series in "23":
            continue
        percent = 100 * count / progress.total if progress.total else 0.0
        part = {"label": label, "count": count, "offset": offset, "percent": percent}
        parts.append({**part, "series": series})
        offset += percent
    return parts
