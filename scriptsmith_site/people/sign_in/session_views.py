"""The page on which users see and end their own sessions."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from core.web.requests import signed_in
from scriptsmith_site.people.sign_in.own_sessions import (
    end_session,
    end_sessions,
    mark_of,
    sessions_of,
)

_MOST_SHOWN = 100


@require_GET
def show_sessions(request: HttpRequest) -> HttpResponse:
    """List the user's sessions with program, address, start and last use."""
    sessions = [
        (mark_of(one), one, one.session_key == request.session.session_key)
        for one in sessions_of(signed_in(request))[:_MOST_SHOWN]
    ]
    return render(request, "people/sessions.html", {"sessions": sessions})


@require_POST
def end_one(request: HttpRequest, mark: str) -> HttpResponse:
    end_session(signed_in(request), mark)
    messages.success(request, _("Session ended."))
    return redirect("sessions")


@require_POST
def end_others(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    ended = end_sessions(user, by=user, keep=request.session.session_key)
    words = ngettext("%s other session ended.", "%s other sessions ended.", ended) % ended
    messages.success(request, words if ended else _("You had no other sessions."))
    return redirect("sessions")
