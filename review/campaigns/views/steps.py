"""Views for a campaign's setup steps. Users can complete and save the steps in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.services import sandbox_trouble
from core.errors import BadInput, NotAllowedNow, Refused
from core.web.requests import signed_in
from pipeline.configurations.services import usable_configurations
from pipeline.models import Configuration
from review.access import access_campaign
from review.campaigns import services
from review.campaigns.estimate import estimate
from review.campaigns.forms import (
    AboutForm,
    ArmsForm,
    BlindingForm,
    ReviewersForm,
    RubricForm,
    RulesForm,
)
from review.campaigns.preview_item import sample_desk
from review.campaigns.services import (
    count_undecided,
    keep_older_scores,
    pilot_cases,
    rubric_uses,
    send_back_older_scores,
)
from review.campaigns.views.head import head_of
from review.desk.views.page_data import show_desk
from review.models import Campaign, Item

FORMS: Mapping[str, type[RulesForm]] = {
    "about": AboutForm,
    "reviewers": ReviewersForm,
    "blinding": BlindingForm,
    "rubric": RubricForm,
}
# In setup order.
STEPS = ("items", "arms", "reviewers", "blinding", "rubric", "size", "about", "start")


class StepLink(TypedDict):
    label: str
    url: str
    current: bool
    standing: services.StepStanding | None  # None for the last step, which opens the campaign


@require_safe
def campaign_setup(request: HttpRequest, pk: int) -> HttpResponse:
    """Redirect to the first unfinished step, or to the last step."""
    campaign = access_campaign(signed_in(request), pk)
    return redirect("campaign-step", pk=campaign.pk, step=next_open(campaign))


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_rules(request: HttpRequest, pk: int, step: str) -> HttpResponse:
    """Show and save a step that changes rules. Invalid input is shown again in the form."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    kind = FORMS[step]
    if request.method != "POST":
        return _show(request, campaign, step, {"form": kind(campaign=campaign)})
    form, status = kind(request.POST, campaign=campaign), 422
    if "preview" in request.POST:
        return _show(request, campaign, step, {"form": form, "preview": request.POST["rubric"]})
    if form.is_valid():
        try:
            _save(campaign, form, by=user)
        except BadInput as refusal:
            form.add_refusal(refusal)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            status = 409
        else:
            return _go_on(request, campaign, step)
    return _show(request, campaign, step, {"form": form}, status=status)


@require_POST
def campaign_rubric_older(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep scores that were given under earlier versions of the rubric, or send their items back to the reviewers."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    why, keeps = request.POST.get("why", ""), request.POST.get("do") == "keep"
    try:
        count = (keep_older_scores if keeps else send_back_older_scores)(campaign, why=why, by=user)
    except Refused as refusal:
        context = {"form": RubricForm(campaign=campaign), "why": why, "why_refused": str(refusal)}
        status = 422 if isinstance(refusal, BadInput) else 409
        return _show(request, campaign, "rubric", context, status=status)
    if keeps:
        said = ngettext("%s review was kept.", "%s reviews were kept.", count)
    else:
        said = ngettext("%s review was sent back.", "%s reviews were sent back.", count)
    messages.success(request, said % f"{count:,}")
    return redirect("campaign-step", pk=pk, step="rubric")


@require_http_methods(["GET", "HEAD", "POST"])
def campaign_arms(request: HttpRequest, pk: int) -> HttpResponse:
    """Show and save the configurations to run on each statement."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    usable = [one for one in usable_configurations() if one.preset != Configuration.Preset.IMPORTED]
    form = ArmsForm(
        request.POST if request.method == "POST" else None, campaign=campaign, usable=usable
    )
    status = 422 if form.errors else 200
    if form.is_valid():
        try:
            with transaction.atomic():
                services.choose_arms(campaign, form.chosen(), by=user)
                services.change_campaign(campaign, by=user, **form.changed_rules())
        except NotAllowedNow as refusal:
            form.add_error("configurations", str(refusal))
            status = 409
        else:
            return _go_on(request, campaign, "arms")
    return _show(request, campaign, "arms", {"form": form}, status=status)


@require_safe
def campaign_start(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the estimated effort, the state of each step, missing requirements, and buttons to start the study."""
    campaign = access_campaign(signed_in(request), pk)
    expected = estimate(campaign)
    people = campaign.members.count()
    item_states = set(campaign.items.values_list("state", flat=True).distinct())
    context = {
        "estimate": expected,
        "is_scored": not expected.runs and item_states == {Item.State.CLOSED},
        "missing": expected.runs,
        "sandbox_trouble": _sandbox_trouble(campaign) if expected.runs else "",
        "pilot": pilot_cases(campaign).count() if expected.pilot_runs else 0,
        "lacks": [
            (reverse("campaign-step", args=[pk, lack.step]), lack.words)
            for lack in services.missing_to_open(campaign)
        ],
        "lacks_halo": campaign.halo_share
        and not campaign.open_to_all
        and people <= campaign.overlap,
    }
    return _show(request, campaign, "start", context)


def _sandbox_trouble(campaign: Campaign) -> str:
    """Return the reason why sandbox tests of the campaign's runs can't run, or an empty string."""
    has_cases = campaign.configurations.exclude(cases=Configuration.Cases.OFF).exists()
    return sandbox_trouble() if has_cases else ""


@require_safe
def campaign_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a read-only preview of the review page, with an item of the campaign or an example."""
    user = signed_in(request)
    campaign = access_campaign(user, pk)
    context = {**show_desk(sample_desk(campaign, user), is_preview=True), "campaign": campaign}
    return render(request, "review/campaigns/preview.html", context)


def step_context(campaign: Campaign, step: str) -> dict[str, object]:
    """Return the shared template context of all setup pages."""
    labels = {
        "items": _("Items"),
        "arms": _("Configurations"),
        "reviewers": _("Reviewers"),
        "blinding": _("Blinding and order"),
        "rubric": _("Rubric"),
        "size": _("Sample size"),
        "about": _("Plan"),
        "start": _("Check and open"),
    }
    standings = services.read_readiness(campaign)
    links: list[StepLink] = [
        {
            "label": labels[one],
            "url": reverse("campaign-step", args=[campaign.pk, one]),
            "current": one == step,
            "standing": standings.get(one),
        }
        for one in STEPS
    ]
    return {
        **head_of(campaign, "campaign-setup"),
        "steps": links,
        "title": labels[step],
        "is_fixed": not services.may_revise(campaign),
    }


def _show(
    request: HttpRequest,
    campaign: Campaign,
    step: str,
    context: Mapping[str, object],
    *,
    status: int = 200,
) -> HttpResponse:
    context = {**step_context(campaign, step), "step": step, **context}
    if step == "rubric":
        context["uses"] = rubric_uses(campaign)
        context["older"] = count_undecided(campaign)
    template = f"review/campaigns/setup_{'start' if step == 'start' else 'step'}.html"
    return render(request, template, context, status=status)


def _go_on(request: HttpRequest, campaign: Campaign, step: str) -> HttpResponse:
    """Redirect to the next step, or back to this step if it needs a decision about earlier scores."""
    if step == "rubric" and (count := count_undecided(campaign)):
        said = ngettext(
            "Saved. Decide what to do with the %s review done under an earlier version.",
            "Saved. Decide what to do with the %s reviews done under an earlier version.",
            count,
        )
        messages.warning(request, said % f"{count:,}")
        return redirect("campaign-step", pk=campaign.pk, step=step)
    messages.success(request, _("Saved."))
    on = next_open(campaign, after=step) if "go_on" in request.POST else step
    return redirect("campaign-step", pk=campaign.pk, step=on)


def next_open(campaign: Campaign, *, after: str = "") -> str:
    """Return the name of the next unfinished step, or of the last step."""
    standings = services.read_readiness(campaign)
    later = STEPS[STEPS.index(after) + 1 :] if after else STEPS
    return next((one for one in later if one in standings and standings[one].is_open), STEPS[-1])


@transaction.atomic
def _save(campaign: Campaign, form: RulesForm, *, by: User) -> None:
    services.change_campaign(campaign, by=by, **form.changed_rules())
    if isinstance(form, ReviewersForm):
        services.choose_reviewers(campaign, form.people_chosen(), by=by)
