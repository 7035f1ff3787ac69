"""Repeats the static checks of a script, where they have changed since."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from core.errors import NotAllowedNow
from core.web.requests import signed_in
from pipeline.access import access_draft
from pipeline.execution.draft_checks import recheck_draft
from pipeline.runs.views.page import show_run


@require_POST
def draft_check(request: HttpRequest, pk: int) -> HttpResponse:
    """The checks as they are today, beside what the older ones said."""
    user = signed_in(request)
    draft = access_draft(user, pk, to_check=True)
    try:
        recheck_draft(draft, by=user)
    except NotAllowedNow as refusal:
        return show_run(request, draft.run, refusal=str(refusal), status=409)
    messages.success(request, _("Checked again. What the older checks said is kept."))
    return redirect("run-detail", pk=draft.run_id)
