"""The report of a study: live, as snapshots, with its threats to validity and the items behind each figure."""

from __future__ import annotations

from typing import cast, get_args

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput
from core.web.requests import page_of, signed_in
from review.access import access_managed_item, access_report
from review.blinding.exposure import note_campaign
from review.models import Campaign, Exposure, Item, ReportSnapshot
from review.report.figure_items import Which, explain_execution, find_items
from review.report.page_data import REASONS, Json, show_agreement, show_report
from review.report.services import make_report
from review.report.snapshots import log_look, note_unblinded, take_snapshot, write_canonical
from review.report.threats import recent_threats
from review.report.threats_data import show_threats
from review.study import FIGURES, Criterion, ItemPattern
from review.study.figures import EXECUTION_REASONS


@require_safe
def campaign_report(request: HttpRequest, pk: int) -> HttpResponse:
    """Every figure as of now. That somebody looked is recorded: looks are a threat to validity."""
    campaign = access_report(signed_in(request), pk)
    return _show_live(request, campaign)


@require_POST
def campaign_snapshot(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep the report as it stands now."""
    user = signed_in(request)
    campaign = access_report(user, pk)
    name = request.POST.get("name", "")
    try:
        snapshot = take_snapshot(campaign, name=name, by=user)
    except BadInput as refused:
        return _show_live(request, campaign, refused=refused, typed=name)
    messages.success(request, _("The report is kept as it stands now."))
    return redirect("campaign-report-snapshot", pk=pk, snapshot=snapshot.pk)


@require_safe
def report_snapshot(request: HttpRequest, pk: int, snapshot: int) -> HttpResponse:
    """A report as it stood; what was scored since does not change it."""
    campaign = access_report(signed_in(request), pk)
    kept = _snapshot_of(campaign, snapshot)
    criterion = _read_criterion(request)
    context = {
        "campaign": campaign,
        "snapshot": kept,
        "criteria": _switch(criterion),
        **show_report(kept.data, criterion),
        "threats": show_threats(kept.data["threats"], criterion, details=kept.data["details"]),
    }
    return render(request, "review/report/snapshot.html", context)


@require_safe
def report_snapshot_file(request: HttpRequest, pk: int, snapshot: int) -> HttpResponse:
    """The snapshot's data, byte for byte what its hash is of."""
    kept = _snapshot_of(access_report(signed_in(request), pk), snapshot)
    return HttpResponse(
        write_canonical(kept.data),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="report-{pk}-{kept.pk}.json"'},
    )


@require_safe
def report_threats_page(request: HttpRequest, pk: int) -> HttpResponse:
    """What is prevented, recorded or reported about each threat, with the numbers."""
    campaign = access_report(signed_in(request), pk)
    criterion = _read_criterion(request)
    details = cast(Json, make_report(campaign)["details"])
    context = {
        "campaign": campaign,
        "criteria": _switch(criterion),
        "threats": show_threats(recent_threats(campaign), criterion, details=details),
    }
    return render(request, "review/report/threats.html", context)


@require_safe
def report_pairs(request: HttpRequest, pk: int, stage: str) -> HttpResponse:
    """How far each two reviewers agree at a stage, where they are too many for the report."""
    campaign = access_report(signed_in(request), pk)
    agreement = cast(Json, make_report(campaign)["agreement"])
    if stage not in agreement:
        raise Http404
    context = {"campaign": campaign, "stage": show_agreement(stage, agreement[stage])}
    return render(request, "review/report/pairs.html", context)


@require_safe
def report_items(request: HttpRequest, pk: int) -> HttpResponse:
    """The items behind a figure. Whoever sees them knows their verdicts, and is marked so where they review here."""
    user = signed_in(request)
    campaign = access_report(user, pk)
    criterion, which = _read_criterion(request), _read_which(request)
    figure, arm = request.GET.get("figure", ""), request.GET.get("configuration", "")
    found = find_items(
        campaign, configuration=arm, figure=figure, criterion=criterion, which=which
    ).select_related("case__action", "run")
    page = page_of(found, request)
    note_unblinded(campaign, by=user)
    note_campaign(user, campaign, Exposure.What.ITEMS)
    definition = next(one for one in FIGURES if one.name == figure)
    context = {
        "campaign": campaign,
        "figure": {"label": _(definition.label), "text": _(definition.text)},
        "configuration": arm,
        "page": page,
        "rows": [_show_item(item) for item in page.rows],
        "explains": figure == "execution_agreement",
        "reasons": [(key, REASONS[key]) for key in EXECUTION_REASONS],
        "criteria": _switch(criterion, configuration=arm, figure=figure, which=which),
        "parts": _parts(configuration=arm, figure=figure, criterion=criterion, which=which),
        "address": request.get_full_path(),
    }
    return render(request, "review/report/items.html", context)


@require_POST
def item_execution_reason(request: HttpRequest, pk: int) -> HttpResponse:
    """Say why execution and experts differ on an item, and go back to the list."""
    user = signed_in(request)
    item = access_managed_item(user, pk)
    explain_execution(item, reason=request.POST.get("reason", ""), by=user)
    messages.success(request, _("The reason for item %s is noted.") % item.case.external_id)
    return redirect(_way_back(request, item))


def _show_live(
    request: HttpRequest,
    campaign: Campaign,
    *,
    refused: BadInput | None = None,
    typed: str = "",
) -> HttpResponse:
    criterion = _read_criterion(request)
    report = make_report(campaign)
    log_look(campaign, report, by=signed_in(request))
    context = {
        "campaign": campaign,
        "criteria": _switch(criterion),
        "snapshots": campaign.snapshots.defer("data").select_related("by"),
        "refused": refused,
        "typed": typed,
        **show_report(report, criterion),
    }
    return render(request, "review/report/report.html", context, status=422 if refused else 200)


def _show_item(item: Item) -> dict[str, object]:
    pattern = ItemPattern.from_text(item.counted_as)  # type: ignore[attr-defined]
    scores = [(one, int(one) if one in "012" else None) for one in pattern[:3]]
    return {
        "item": item,
        "verdict": pattern.verdict or "",
        "scores": scores,
        "execution": item.execution,
        "reason": REASONS.get(item.execution_reason, ""),
    }


def _snapshot_of(campaign: Campaign, pk: int) -> ReportSnapshot:
    return get_object_or_404(campaign.snapshots.select_related("by"), pk=pk)


def _read_criterion(request: HttpRequest) -> Criterion:
    try:
        return Criterion(request.GET.get("criterion", Criterion.STRICT.value))
    except ValueError:
        raise BadInput(_("The criterion is strict or partial."), field="criterion") from None


def _read_which(request: HttpRequest) -> Which:
    value = request.GET.get("which", "all")
    if value not in get_args(Which):
        raise BadInput(_("There is no such part of a figure."), field="which")
    return cast(Which, value)


def _address(**parameters: str) -> str:
    return f"?{urlencode(parameters)}"


def _switch(criterion: Criterion, **parameters: str) -> list[dict[str, object]]:
    labels = {Criterion.STRICT: _("Strict"), Criterion.PARTIAL: _("Partial")}
    return [
        {
            "label": labels[one],
            "url": _address(criterion=one.value, **parameters),
            "current": one is criterion,
            "key": one.value[0],
        }
        for one in Criterion
    ]


def _parts(*, criterion: Criterion, which: Which, **parameters: str) -> list[dict[str, object]]:
    labels: dict[Which, str] = {
        "all": _("All that it is about"),
        "numerator": _("Counted"),
        "rest": _("Not counted"),
    }
    return [
        {
            "label": label,
            "url": _address(criterion=criterion.value, which=key, **parameters),
            "current": key == which,
        }
        for key, label in labels.items()
    ]


def _way_back(request: HttpRequest, item: Item) -> str:
    """The list that the form stood on; no address of anybody else's."""
    home = reverse("campaign-report-items", args=[item.campaign_id])
    back = request.POST.get("back", "")
    if back.startswith(f"{home}?") and url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return back
    return reverse("campaign-report", args=[item.campaign_id])
