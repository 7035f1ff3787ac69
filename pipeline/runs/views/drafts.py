"""Views for one draft: repeat its static checks, and use it before review."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from core.errors import BadInput, NotAllowedNow
from core.web.forms import add_refusal
from core.web.requests import signed_in
from pipeline.access import access_draft
from pipeline.execution.draft_checks import recheck_draft
from pipeline.runs import services
from pipeline.runs.forms import UseForm
from pipeline.runs.views.page import show_run


@require_POST
def draft_check(request: HttpRequest, pk: int) -> HttpResponse:
    """Repeat the checks with their current versions."""
    user = signed_in(request)
    draft = access_draft(user, pk, to_check=True)
    try:
        recheck_draft(draft, by=user)
    except NotAllowedNow as refusal:
        return show_run(request, draft.run, refusal=str(refusal), status=409)
    messages.success(request, _("Script checked again. The findings of older checks are kept."))
    return redirect("run-detail", pk=draft.run_id)


@require_POST
def use_draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Use a script without review and record the reason (break-glass)."""
    user = signed_in(request)
    draft = access_draft(user, pk, to_use=True)
    form = UseForm(request.POST)
    if form.is_valid():
        try:
            services.use_unreviewed(draft, reason=form.cleaned_data["reason"], by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except NotAllowedNow as refusal:
            return show_run(request, draft.run, form=form, refusal=str(refusal), status=409)
        else:
            return redirect("run-detail", pk=draft.run_id)
    return show_run(request, draft.run, form=form, status=422)
