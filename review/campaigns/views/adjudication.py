"""Adjudication pages: the list of items on which reviewers differ, and one screen for each, usable by keys."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput, NotAllowedNow, Refused
from core.web.requests import page_of, signed_in
from pipeline.models import Draft
from review.access import access_campaign
from review.blinding.exposure import note_run
from review.blinding.item_view import open_item
from review.campaigns import services
from review.campaigns.services import (
    Difference,
    check_adjudicator,
    differences,
    disputed_items,
)
from review.campaigns.views.head import head_of
from review.counting.tallies import count_due
from review.desk.line_comments import remarks_for
from review.desk.views.line_comment_data import ShownRemark
from review.models import Campaign, Item, Remark, Score
from review.queue import services as queue
from review.study.first_draft import first_draft_of

PAGE_SIZE = 50
_MOST_DUE = 500


@dataclass(frozen=True)
class ShownDifference:
    """A difference with what was scored, and what each reviewer gave under a letter or their name."""

    difference: Difference
    label: str
    draft: Draft | None
    feedback: str
    given: list[tuple[str, Score]]
    remarks: list[ShownRemark]


@require_safe
def campaign_disputes(request: HttpRequest, pk: int) -> HttpResponse:
    """Items that wait for an adjudicator."""
    campaign = access_campaign(signed_in(request), pk)
    count_due(campaign, most=_MOST_DUE)
    found = disputed_items(campaign).select_related("case__action", "configuration")
    context = {
        **head_of(campaign, "campaign-disputes"),
        "page": page_of(found, request, size=PAGE_SIZE),
        "first": found.first(),
    }
    return render(request, "review/campaigns/adjudication_list.html", context)


@require_safe
def campaign_dispute(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """One item: statement, script, and what each gave, side by side."""
    return _show(request, _item(request, pk, item))


@require_POST
def campaign_adjudicate(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    """Settle one stage, with a reason; then the next stage, or the next item."""
    user, found = signed_in(request), _item(request, pk, item)
    value = request.POST.get("value", "")
    try:
        services.adjudicate(
            found,
            stage=request.POST.get("stage", ""),
            arm=request.POST.get("arm", "model"),
            value=int(value) if value in ("0", "1", "2") else -1,
            why=request.POST.get("why", ""),
            by=user,
        )
    except Refused as refusal:
        status = 422 if isinstance(refusal, BadInput) else 409
        return _show(request, found, refusal=refusal, status=status)
    if any(one.adjudication is None for one in differences(found)):
        return redirect("campaign-dispute", pk=pk, item=item)
    messages.success(request, _("Settled."))
    # What has just been settled is no longer one of them.
    count_due(found.campaign, most=_MOST_DUE)
    left = disputed_items(found.campaign)
    following = left.filter(pk__gt=found.pk).first() or left.first()
    if following is None:
        return redirect("campaign-disputes", pk=pk)
    return redirect("campaign-dispute", pk=pk, item=following.pk)


def _item(request: HttpRequest, pk: int, item: int) -> Item:
    campaign: Campaign = access_campaign(signed_in(request), pk)
    return get_object_or_404(
        campaign.items.select_related("campaign", "case__action", "configuration", "run__action"),
        pk=item,
    )


def _show(
    request: HttpRequest, item: Item, *, refusal: Refused | None = None, status: int = 200
) -> HttpResponse:
    user = signed_in(request)
    if item.run is None:
        raise NotAllowedNow(_("This item has no script."))
    desk = open_item(item, user, reads_all=True)
    note_run(user, item.run)
    names = "names" in request.GET
    found = differences(item)
    remarks = remarks_for(item, desk.drafts)
    people = sorted(
        {score.reviewer_id for one in found for score in one.scores}
        | {one.by_id for one in remarks}
    )
    said = _show_remarks(remarks, people, names)
    shown = [_show_difference(one, people, names, said) for one in found]
    first = first_draft_of(desk.drafts)
    context = {
        **head_of(item.campaign, "campaign-disputes"),
        "item": item,
        "action": item.run.action,
        "first": first,
        "findings": desk.findings.get(first.pk, []) if first else [],
        "remarks": said.get(first.pk, []) if first else [],
        "shown": shown,
        "open": next((one for one in shown if one.difference.adjudication is None), None),
        "typed": request.POST,
        "refusal": refusal,
        "refused_field": refusal.field if isinstance(refusal, BadInput) else "",
        "barred": _barred(item, request),
        "names": names,
        "people": queue.reviewers_for(item.campaign),
    }
    return render(request, "review/campaigns/adjudication.html", context, status=status)


def _barred(item: Item, request: HttpRequest) -> str:
    """Why this person may not settle it; empty where they may."""
    try:
        check_adjudicator(item, signed_in(request))
    except PermissionDenied as refusal:
        return str(refusal)
    return ""


def _show_difference(
    one: Difference, people: list[int], names: bool, said: dict[int, list[ShownRemark]]
) -> ShownDifference:
    draft = next((score.draft for score in one.scores if score.draft), None)
    feedback = next((score.feedback.text for score in one.scores if score.feedback), "")
    label = str(Score.Stage(one.stage).label)
    if one.arm != "model":
        label = _("%s, from an expert's feedback") % label
    given = [
        (_name_of(score.reviewer, people, names), score)
        for score in sorted(one.scores, key=lambda score: score.reviewer_id)
    ]
    remarks = said.get(draft.pk, []) if draft else []
    return ShownDifference(one, label, draft, feedback, given, remarks)


def _show_remarks(
    remarks: list[Remark], people: list[int], names: bool
) -> dict[int, list[ShownRemark]]:
    """By Draft, what was said of its lines, under the same letters or names as the scores."""
    said: dict[int, list[ShownRemark]] = {}
    for one in remarks:
        who = _name_of(one.by, people, names)
        said.setdefault(one.draft_id, []).append(ShownRemark(one.pk, one.line, one.text, who))
    return said


def _name_of(person: User, people: list[int], names: bool) -> str:
    """The name, or a letter that stands for the same person through all of the item."""
    if names:
        return person.get_full_name() or person.username
    return _("Reviewer %s") % chr(ord("A") + people.index(person.pk) % 26)
