"""Views for a single run: watch, cancel and retry it, and confirm or reject the catalogue's answer."""

from __future__ import annotations

import json

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.errors import BadInput, NotAllowedNow
from core.web.requests import signed_in, wants_fragment
from pipeline.access import access_run, may_cancel, visible_parts
from pipeline.clients.destinations import may_bill
from pipeline.costs.run_costs import costs_of
from pipeline.models import Run
from pipeline.runs import services
from pipeline.runs.answers import answer_of
from pipeline.runs.forms import UseForm
from pipeline.runs.list_rows import run_row
from pipeline.runs.page_data.call_details import show_calls
from pipeline.runs.page_data.waiting import describe_wait
from pipeline.runs.views.page import describe_run, fingerprint_of, show_run


@require_safe
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the current state of the run. The page updates itself while the run is active."""
    return show_run(request, access_run(signed_in(request), pk))


@require_safe
def run_status(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the live part of the page, or 204 if it has not changed since it was last shown."""
    user = signed_in(request)
    run = access_run(user, pk)
    if not wants_fragment(request):
        return redirect("run-detail", pk=pk)
    row = run_row(run, user)
    stages = list(run.stages.all()) if row.parts.verdict else []
    answer = answer_of(row, user) if row.parts.verdict and not row.is_active else None
    waits = describe_wait(run, user) if row.parts.verdict else None
    if request.GET.get("seen") == fingerprint_of(row, stages, answer, waits):
        return HttpResponse(status=204)
    context = describe_run(run, user) | {"form": UseForm()}
    response = render(request, "pipeline/runs/_run.html", context)
    if not row.is_active:
        ended = answer.label if answer else Run.State(row.state).label
        told = _("Run state: %(state)s.") % {"state": ended}
        response["HX-Trigger"] = json.dumps({"announce": {"text": told}})
    return response


@require_safe
def run_calls(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the ledger: every model call of the run with its attempts."""
    user = signed_in(request)
    run = access_run(user, pk)
    parts = visible_parts(user, run)
    if not (parts.verdict and parts.models):
        raise PermissionDenied(
            _("Model replies are hidden from you until you have reviewed the script.")
        )
    context = {
        "run": run,
        "row": run_row(run, user),
        "parts": parts,
        "calls": show_calls(run),
        "costs": costs_of(run, bills=may_bill),
        "may_cancel": may_cancel(user, run),
    }
    return render(request, "pipeline/runs/calls.html", context)


@require_POST
def cancel_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a run that is in progress."""
    user = signed_in(request)
    run = access_run(user, pk, to_cancel=True)
    try:
        services.cancel_run(run, by=user)
    except NotAllowedNow as refusal:
        return _refuse(request, run, refusal)
    return redirect("run-detail", pk=pk)


@require_POST
def retry_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Retry a failed run."""
    user = signed_in(request)
    run = access_run(user, pk, to_change=True)
    try:
        services.retry_run(run, by=user)
    except NotAllowedNow as refusal:
        return _refuse(request, run, refusal)
    return redirect("run-detail", pk=pk)


@require_POST
def confirm_match(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm the catalogue's answer."""
    user = signed_in(request)
    run = access_run(user, pk, to_change=True)
    try:
        services.confirm_match(run, by=user)
    except NotAllowedNow as refusal:
        return _refuse(request, run, refusal)
    messages.success(request, _("Match confirmed. You can copy the script here."))
    return redirect(f"{reverse('run-detail', args=[pk])}#answer")


@require_POST
def reject_match(request: HttpRequest, pk: int) -> HttpResponse:
    """Reject the catalogue's answer and start a run that writes a script."""
    user = signed_in(request)
    run = access_run(user, pk, to_change=True)
    try:
        written = services.reject_match(run, by=user)
    except (NotAllowedNow, BadInput) as refusal:
        return _refuse(request, run, refusal)
    messages.info(request, _("Match rejected. A model is writing a script."))
    return redirect("run-detail", pk=written.pk)


def _refuse(request: HttpRequest, run: Run, refusal: NotAllowedNow | BadInput) -> HttpResponse:
    """Show the run's page with the reason why the request was rejected."""
    status = 409 if isinstance(refusal, NotAllowedNow) else 422
    run = access_run(signed_in(request), run.pk)
    return show_run(request, run, refusal=str(refusal), status=status)
