"""Pages of the items behind a figure or table cell, and a form for why execution and experts disagree on an item."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from core.web.requests import page_of, signed_in
from review.access import access_managed_item, access_report
from review.blinding.exposure import note_campaign
from review.campaigns.item_forms import EXECUTION_REASONS
from review.campaigns.looks import log_look
from review.campaigns.services import runs_in_queue
from review.evidence.outcomes import ExecutedStage
from review.models import Campaign, Exposure, Item, ReportLook
from review.report.cell_items import find_cell
from review.report.execution_items import find_executed
from review.report.figure_items import Which, explain_execution, find_items
from review.report.sections.assessor import VERDICTS
from review.report.sections.execution import LABEL_WORDS, OUTCOMES, SIDES, STAGES, STATES
from review.report.snapshots import note_unblinded
from review.report.views.parameters import address, read_criterion, read_which, switch_of
from review.study import FIGURES, Criterion, ItemPattern
from review.study.execution import CONFUSION_TEXT

# The states of stages without a final score, by the letter stored in the pattern.
_STANDINGS = {
    "u": gettext_lazy("unresolved"),
    "a": gettext_lazy("wrong, unresolved under partial"),
    "b": gettext_lazy("right under partial, else unresolved"),
    "p": gettext_lazy("pending"),
    "x": gettext_lazy("none"),
}


@require_safe
def report_items(request: HttpRequest, pk: int) -> HttpResponse:
    """List the items behind a figure. The list reveals verdicts, so reviewers who view it are marked as unblinded."""
    user = signed_in(request)
    campaign = access_report(user, pk)
    criterion = read_criterion(request)
    arm = request.GET.get("configuration", "")
    if "execution" in request.GET:
        found, context = find_executed_items(request, campaign, arm, criterion)
    elif "cell" in request.GET:
        found, context = _of_cell(request, campaign, arm, criterion)
    else:
        found, context = _of_figure(request, campaign, arm, criterion)
    page = page_of(found.select_related("case__action", "run"), request)
    note_unblinded(campaign, by=user)
    note_campaign(user, campaign, Exposure.What.ITEMS)
    log_look(campaign, ReportLook.What.ITEMS, by=user)
    context |= {
        "campaign": campaign,
        "configuration": arm,
        "page": page,
        "rows": [_show_item(item, context.get("executed")) for item in page.rows],
        "reasons": EXECUTION_REASONS.items(),
        "address": request.get_full_path(),
        "in_queue": runs_in_queue(one.run_id for one in page.rows if one.run_id)
        if campaign.state == Campaign.State.CLOSED
        else set(),
    }
    return render(request, "review/report/items.html", context)


@require_POST
def item_execution_reason(request: HttpRequest, pk: int) -> HttpResponse:
    """Record why execution and experts disagree on an item, and redirect to the page with the form."""
    user = signed_in(request)
    item = access_managed_item(user, pk)
    explain_execution(item, reason=request.POST.get("reason", ""), by=user)
    messages.success(request, _("Reason for item %s saved.") % item.case.external_id)
    return redirect(_way_back(request, item))


def _of_figure(
    request: HttpRequest, campaign: Campaign, arm: str, criterion: Criterion
) -> tuple[QuerySet[Item], dict[str, object]]:
    which, figure = read_which(request), request.GET.get("figure", "")
    found = find_items(campaign, configuration=arm, figure=figure, criterion=criterion, which=which)
    definition = next(one for one in FIGURES if one.name == figure)
    return found, {
        "figure": {"label": _(definition.label), "text": _(definition.text)},
        "explains": figure == "execution_agreement",
        "criteria": switch_of(criterion, configuration=arm, figure=figure, which=which),
        "parts": _parts(configuration=arm, figure=figure, criterion=criterion, which=which),
    }


def _of_cell(
    request: HttpRequest, campaign: Campaign, arm: str, criterion: Criterion
) -> tuple[QuerySet[Item], dict[str, object]]:
    cell = request.GET.get("cell", "")
    found = find_cell(campaign, configuration=arm, cell=cell, criterion=criterion)
    verdict, _dash, side = cell.partition("-")
    sides = {"right": _("right according to experts"), "wrong": _("wrong according to experts")}
    label = _("%(verdict)s, and %(side)s") % {"verdict": VERDICTS[verdict], "side": sides[side]}
    parts = [
        {
            "label": f"{name}, {words}",
            "url": address(
                criterion=criterion.value, configuration=arm, cell=f"{verdict_of}-{side_of}"
            ),
            "current": cell == f"{verdict_of}-{side_of}",
        }
        for verdict_of, name in list(VERDICTS.items())[:2]
        for side_of, words in (("right", _("right")), ("wrong", _("wrong")))
    ]
    return found, {
        "figure": {
            "label": label[:1].upper() + label[1:],
            "text": _("Scored items by the verdict of the first assessment."),
        },
        "explains": False,
        "criteria": switch_of(criterion, configuration=arm, cell=cell),
        "parts": parts,
    }


def find_executed_items(
    request: HttpRequest, campaign: Campaign, arm: str, criterion: Criterion
) -> tuple[QuerySet[Item], dict[str, object]]:
    """Return the items behind a number in the execution tables, and the template context of the list.

    Raises BadInput for invalid parameters.
    """
    names = ("stage", "execution", "side", "reason")
    wanted = {name: request.GET.get(name, "") for name in names}
    found, executed = find_executed(campaign, configuration=arm, criterion=criterion, **wanted)
    words = [str(STAGES[wanted["stage"]])]
    if wanted["side"]:
        words.append(str(SIDES[wanted["side"]]).lower())
    if wanted["reason"]:
        words.append(str(LABEL_WORDS[wanted["reason"]]))
    parts = [
        {
            "label": label,
            "url": address(
                criterion=criterion.value,
                configuration=arm,
                stage=wanted["stage"],
                execution=key,
            ),
            "current": wanted["execution"] == key,
        }
        for key, label in (
            ("all", _("All with tests")),
            ("verdict", _("With a verdict")),
            ("passed", str(OUTCOMES["passed"])),
            ("failed", str(OUTCOMES["failed"])),
            ("no_verdict", str(OUTCOMES["no_verdict"])),
            ("differ", _("Differs from experts")),
        )
    ]
    return found, {
        "configuration": arm,
        "figure": {
            "label": _("Sandbox tests: %s") % ", ".join(words),
            "text": _(CONFUSION_TEXT),
        },
        "executed": executed,
        "label_words": LABEL_WORDS,
        "explains": False,
        "criteria": switch_of(criterion, configuration=arm, **wanted),
        "parts": parts,
    }


def _show_item(item: Item, executed: object = None) -> dict[str, object]:
    pattern = ItemPattern.from_text(item.counted_as)  # type: ignore[attr-defined]
    scores = [
        (_STANDINGS.get(one.value, ""), int(one) if one.value in "012" else None)
        for one in pattern[:3]
    ]
    return {
        "item": item,
        "verdict": pattern.verdict or "",
        "scores": scores,
        "execution": item.execution,
        "executed": say_executed(executed[item.pk]) if isinstance(executed, dict) else None,
    }


def say_executed(one: ExecutedStage) -> dict[str, object]:
    """Return a script's sandbox results for the template."""
    result = one.result
    return {
        "outcome": OUTCOMES[result.outcome],
        "passed": result.passed,
        "judged": result.passed + result.failed,
        "beside": ", ".join(
            f"{count} {STATES.get(state, state)}" for state, count in result.others.items()
        ),
        "labels": ", ".join(str(LABEL_WORDS[label]) for label in result.labels),
    }


def _parts(*, criterion: Criterion, which: Which, **parameters: str) -> list[dict[str, object]]:
    labels: dict[Which, str] = {
        "all": _("All"),
        "numerator": _("Counted"),
        "rest": _("Not counted"),
        "open": _("Open, excluded"),
    }
    return [
        {
            "label": label,
            "url": address(criterion=criterion.value, which=key, **parameters),
            "current": key == which,
        }
        for key, label in labels.items()
    ]


def _way_back(request: HttpRequest, item: Item) -> str:
    """Return the URL of the list or item page that contained the form, or the report's URL if `back` is invalid."""
    homes = (
        reverse("campaign-report-items", args=[item.campaign_id]) + "?",
        reverse("campaign-item", args=[item.campaign_id, item.pk]),
    )
    back = request.POST.get("back", "")
    if back.startswith(homes) and url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return back
    return reverse("campaign-report", args=[item.campaign_id])
