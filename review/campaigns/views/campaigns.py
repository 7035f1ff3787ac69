"""Views to list campaigns, clone a campaign, change its state, and start its runs."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.models import SavedView
from catalog.services import views_of
from core.errors import BadInput, Refused
from core.web.lists import filter_context, list_context, page_in_order
from core.web.requests import signed_in
from review.access import access_campaign, access_campaigns
from review.campaigns import services
from review.campaigns.campaign_list import (
    CampaignListForm,
    Sort,
    columns_of,
    count_facets,
    in_order,
    narrow,
)
from review.campaigns.dashboard import Progress, read_progress
from review.campaigns.forms import CloneForm
from review.campaigns.services import ask_for_runs
from review.campaigns.views.head import head_of
from review.models import Assignment, Campaign, Flag

PAGE_SIZE = 50
LIST = SavedView.Listing.CAMPAIGNS


@require_safe
def campaign_list(request: HttpRequest) -> HttpResponse:
    """List the studies with their state and progress, newest first or in the chosen order."""
    user = signed_in(request)
    campaigns = access_campaigns(user)
    form = CampaignListForm(request.GET)
    context: dict[str, object] = {
        **list_context(request, form, listing=LIST.value),
        "views": views_of(user, LIST),
    }
    if not form.is_valid():
        return render(request, "review/campaigns/list.html", context, status=422)
    sort = Sort(form.cleaned_data["sort"])
    fitting = narrow(campaigns, form.cleaned_data)
    ordered = in_order(fitting, sort)
    by_time = sort is Sort.NEWEST
    page = page_in_order(ordered, request, by_key=by_time, size=PAGE_SIZE)
    progress = read_progress(page.rows)
    total = fitting.count()
    context |= filter_context(request, form, count_facets(campaigns, form.cleaned_data))
    context |= {
        "page": page,
        "rows": [(one, progress.get(one.pk, Progress())) for one in page.rows],
        "by_time": by_time,
        "columns": columns_of(request.GET, sort),
        "said": ngettext("%s study", "%s studies", total) % f"{total:,}",
    }
    return render(request, "review/campaigns/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_clone(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a campaign with the rules, the reviewers and, optionally, the items of an existing campaign."""
    user = signed_in(request)
    source = access_campaign(user, pk)
    if request.method == "POST":
        form = CloneForm(request.POST)
    else:
        form = CloneForm(initial={"name": _("%s (copy)") % source.name[:120], "takes": "cases"})
    if form.is_valid():
        takes = form.cleaned_data["takes"]
        try:
            made = services.clone_campaign(
                source,
                form.cleaned_data["name"],
                by=user,
                with_cases=takes != "nothing",
                with_scripts=takes == "scripts",
            )
        except BadInput as refusal:
            form.add_error(refusal.field or None, str(refusal))
        else:
            messages.success(
                request, _("Study cloned. Check the setup steps, then open the study.")
            )
            return redirect("campaign-step", pk=made.pk, step="start")
    context = {"form": form, "source": source}
    status = 422 if form.errors else 200
    return render(request, "review/campaigns/clone.html", context, status=status)


@require_POST
def campaign_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Start the pilot, or open, pause or close the campaign. Closing requires a confirmation."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    to = request.POST.get("state", "")
    if to == Campaign.State.CLOSED and to in services.MOVES[campaign.state]:
        progress = read_progress([campaign]).get(campaign.pk, Progress())
        # Ask again if the number has changed since the confirmation was shown.
        if request.POST.get("confirmed") != str(progress.unfinished):
            return _ask_before_closing(request, campaign, progress)
    try:
        if to not in Campaign.State.values:
            raise BadInput(_("Unknown state."), field="state")
        services.move_campaign(campaign, to, by=user)
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _said(to))
    return redirect("campaign-detail", pk=pk)


@require_POST
def campaign_start_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """Start all missing runs, or only the pilot's runs, in the background."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    try:
        count = ask_for_runs(campaign, by=user, pilot="pilot" in request.POST)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("campaign-step", pk=pk, step="start")
    said = ngettext("%s run is starting.", "%s runs are starting.", count)
    messages.success(request, said % f"{count:,}")
    return redirect("campaign-detail", pk=pk)


def _ask_before_closing(
    request: HttpRequest, campaign: Campaign, progress: Progress
) -> HttpResponse:
    held = Assignment.objects.filter(item__campaign=campaign, state=Assignment.State.ACTIVE)
    context = {
        "progress": progress,
        "in_hands": held.values("item").distinct().count(),
        "disputed": services.disputed_items(campaign).count(),
        "flags": Flag.objects.filter(item__campaign=campaign, resolved_at=None).count(),
    }
    head = head_of(campaign, "campaign-detail")
    return render(request, "review/campaigns/close.html", context | head)


def _said(state: str) -> str:
    return {
        Campaign.State.PILOT.value: _("The pilot has started. Only its items are assigned."),
        Campaign.State.OPEN.value: _(
            "The study is open. Its reviewers can find it under My studies."
        ),
        Campaign.State.PAUSED.value: _("Study paused. No items are assigned and no runs continue."),
        Campaign.State.CLOSED.value: _("The study is closed. All scores are kept."),
    }[state]
