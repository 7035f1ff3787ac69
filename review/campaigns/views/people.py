"""Views to list, add, pause and limit the reviewers of a campaign."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput, Refused
from core.web.requests import signed_in
from review.access import access_campaign
from review.campaigns import services
from review.campaigns.dashboard import ReviewerLine, read_dashboard
from review.campaigns.forms import MemberForm
from review.campaigns.views.head import head_of
from review.models import Campaign, Member

_SHOWN = 50


@require_safe
def campaign_people(request: HttpRequest, pk: int) -> HttpResponse:
    """List the reviewers with their progress and their current items."""
    campaign = access_campaign(signed_in(request), pk)
    return _show(request, campaign, MemberForm(people=list(services.people_outside(campaign))))


@require_POST
def campaign_member_add(request: HttpRequest, pk: int) -> HttpResponse:
    """Add one reviewer, or all users who may review."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    if "everybody" in request.POST:
        count = services.add_everybody(campaign, by=user)
        said = ngettext("%s reviewer was added.", "%s reviewers were added.", count)
        messages.success(request, said % count)
        return redirect("campaign-people", pk=pk)
    form = MemberForm(request.POST, people=list(services.people_outside(campaign)))
    if form.is_valid():
        given = form.cleaned_data
        try:
            services.add_reviewer(
                campaign, form.people[given["user"]], by=user, limit=given["limit"]
            )
        except BadInput as refusal:
            form.add_error(refusal.field or None, str(refusal))
        else:
            messages.success(request, _("Reviewer added."))
            return redirect("campaign-people", pk=pk)
    return _show(request, campaign, form, status=422)


@require_POST
def campaign_open_to_all(request: HttpRequest, pk: int) -> HttpResponse:
    """Open the study to all reviewers, or only to added reviewers."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    wanted = request.POST.get("open") == "yes"
    services.change_campaign(campaign, by=user, open_to_all=wanted)
    messages.success(
        request,
        _("Every reviewer can take part.") if wanted else _("Only added reviewers can take part."),
    )
    return redirect("campaign-people", pk=pk)


@require_POST
def campaign_member(request: HttpRequest, pk: int, member: int) -> HttpResponse:
    """Pause or resume a reviewer, or set their maximum number of items."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    found = get_object_or_404(campaign.members.select_related("user", "campaign"), pk=member)
    what = request.POST.get("do", "")
    try:
        if what in ("pause", "go_on"):
            services.pause_member(found, paused=what == "pause", by=user)
        elif what == "limit":
            services.set_limit(found, _limit(request), by=user)
        else:
            raise BadInput(_("Unknown option."), field="do")
    except Refused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Reviewer updated."))
    return redirect("campaign-people", pk=pk)


def _show(
    request: HttpRequest, campaign: Campaign, form: MemberForm, *, status: int = 200
) -> HttpResponse:
    lines = {line.user.pk: line for line in read_dashboard(campaign).reviewers}
    members = list(campaign.members.select_related("user").order_by("user__username"))
    context = {
        **head_of(campaign, "campaign-people"),
        "form": form,
        "rows": [(member, lines.get(member.user_id)) for member in members],
        "others": _others(lines, members),
        "held": services.held_items(campaign)[:_SHOWN],
    }
    return render(request, "review/campaigns/people.html", context, status=status)


def _others(lines: dict[int, ReviewerLine], members: list[Member]) -> list[User]:
    """Return users with imported scores who are not members."""
    inside = {member.user_id for member in members}
    return [line.user for pk, line in lines.items() if pk not in inside]


def _limit(request: HttpRequest) -> int | None:
    value = request.POST.get("limit", "").strip()
    if not value:
        return None
    if not value.isdecimal() or len(value) > 9:
        raise BadInput(_("Enter a whole number of at least 1."), field="limit")
    return int(value)
