"""The sample size step of a campaign's setup."""

from __future__ import annotations

from typing import TypedDict

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from core.errors import BadInput, NotAllowedNow
from core.web.forms import add_refusal
from core.web.requests import signed_in
from review.access import access_campaign
from review.campaigns import services
from review.campaigns.planning_forms import FORMS
from review.campaigns.services.planning import Plan, Work
from review.campaigns.views.steps import next_open, step_context
from review.models import Campaign
from review.study.planning import Aim


class PlanRow(TypedDict):
    items: int
    value: float
    is_planned: bool


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_size(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the sample size for the entered assumptions, or save it as the plan."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    kept = services.plan_of(campaign)
    aim = _aim_of(request, kept)
    if request.method != "POST":
        shown = kept if kept and kept.aim is aim else None
        form = FORMS[aim](campaign=campaign, plan=kept)
        return _show(request, campaign, form=form, shown=shown, is_saved=shown is not None)
    form, status = FORMS[aim](request.POST, campaign=campaign, plan=kept), 422
    plan = None
    if form.is_valid():
        try:
            plan = services.work_out(aim, form.assumed())
            if "look" in request.POST:
                return _show(request, campaign, form=form, shown=plan, is_saved=False)
            services.save_plan(campaign, plan, by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            status = 409
        else:
            return _go_on(request, campaign, plan)
    return _show(
        request,
        campaign,
        form=form,
        shown=plan,
        is_saved=not services.may_revise(campaign),
        status=status,
    )


def _aim_of(request: HttpRequest, kept: Plan | None) -> Aim:
    asked = request.GET.get("for", "")
    if asked in list(Aim):
        return Aim(asked)
    return kept.aim if kept else Aim.SHARE


def _go_on(request: HttpRequest, campaign: Campaign, plan: Plan) -> HttpResponse:
    said = ngettext("Plan saved: %s item.", "Plan saved: %s items.", plan.items)
    messages.success(request, said % f"{plan.items:,}")
    campaign.refresh_from_db()
    on = next_open(campaign, after="size") if "go_on" in request.POST else "size"
    return redirect("campaign-step", pk=campaign.pk, step=on)


def _show(
    request: HttpRequest,
    campaign: Campaign,
    *,
    form: object,
    shown: Plan | None,
    is_saved: bool,
    status: int = 200,
) -> HttpResponse:
    aim = next(aim for aim, kind in FORMS.items() if isinstance(form, kind))
    labels = {
        Aim.SHARE: _("A single proportion"),
        Aim.PAIRED: _("Comparison of two configurations"),
        Aim.AGREEMENT: _("Reviewer agreement"),
    }
    address = reverse("campaign-step", args=[campaign.pk, "size"])
    context = {
        **step_context(campaign, "size"),
        "step": "size",
        "form": form,
        "aim": aim.value,
        "aims": [
            {"label": labels[one], "url": f"{address}?for={one.value}", "current": one is aim}
            for one in FORMS
        ],
        "is_saved": is_saved,
        "cases": campaign.cases.filter(repeats=None, purpose="real").count(),
        **(plan_context(shown) if shown else {}),
        **(_share_work(campaign, shown.work) if shown and shown.work else {}),
    }
    return render(request, "review/campaigns/setup_size.html", context, status=status)


def _share_work(campaign: Campaign, work: Work) -> dict[str, object]:
    """Return the number of reviewers and the planned hours per reviewer."""
    members = campaign.members.count()
    return {"plan_members": members, "plan_hours_each": work.hours / members if members else None}


def plan_context(plan: Plan) -> dict[str, object]:
    """Return the template context for a plan, with its chart and table."""
    rows: list[PlanRow] = [
        {"items": items, "value": value, "is_planned": items == plan.items}
        for items, value in plan.curve
    ]
    label = {
        Aim.SHARE: _("Margin of error"),
        Aim.PAIRED: _("Power"),
        Aim.AGREEMENT: _("Width of the alpha interval"),
    }[plan.aim]
    return {
        "plan": plan,
        "plan_rows": rows,
        "plan_label": label,
        "plan_unit": {Aim.SHARE: "points", Aim.PAIRED: "share", Aim.AGREEMENT: "number"}[plan.aim],
        "plan_most": 1 if plan.aim is Aim.PAIRED else None,
        "plan_lines": [(label, [(row["value"], None, None) for row in rows])],
        "plan_places": [f"{row['items']:,}" for row in rows],
    }
