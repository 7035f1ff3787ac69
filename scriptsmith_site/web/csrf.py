"""The response to a failed CSRF check, with the cause and a way to continue."""

from __future__ import annotations

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.middleware import csrf
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.web.requests import wants_fragment
from scriptsmith_site.people.sign_in.unsent_forms import sent_by
from scriptsmith_site.web.errors import ErrorKind, show_error, wants_json


class _Cause(NamedTuple):
    """The user-facing reason why a form was rejected."""

    title: str | Promise
    text: str | Promise


_NO_TOKEN = _Cause(
    gettext_lazy("Missing security token"),
    gettext_lazy(
        "The page did not send its security token, which is a bug in the page. Your input and "
        "your sign-in are fine. Please tell an administrator which page it was."
    ),
)
_NO_COOKIE = _Cause(
    gettext_lazy("Missing cookie"),
    gettext_lazy(
        "Your browser didn't send this site's cookie. Allow cookies for this site, then "
        "reload the page."
    ),
)
_OTHER_SITE = _Cause(
    gettext_lazy("Form from another site"),
    gettext_lazy(
        "Your browser reported another site as the sender. If you used a page of this site, "
        "an administrator must add its address to SCRIPTSMITH_ORIGINS or correct the proxy."
    ),
)
_OLD_TOKEN = _Cause(
    gettext_lazy("Outdated form"),
    gettext_lazy("You signed in or out after this page was loaded, perhaps in another tab."),
)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return a 403 response that names the cause.

    A form from a page of this site can be submitted again with a valid token. A form from another site can't.
    """
    cause = _cause_of(reason)
    if wants_json(request) or wants_fragment(request):
        detail = _("%(title)s. Nothing was changed. %(text)s") % {
            "title": cause.title,
            "text": cause.text,
        }
        if cause is _OLD_TOKEN:
            again = _("Copy your input, reload the page and submit the form again.")
            detail = f"{detail} {again}"
        return show_error(request, ErrorKind(403, "csrf_failed"), detail=detail)
    own_page = request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
    if own_page and request.user.is_authenticated:
        kept = {"kept": sent_by(request), "title": cause.title, "why": cause.text}
        return render(request, "registration/send_again.html", kept, status=403)
    context = {"title": cause.title, "why": cause.text, "may_reload": cause is _OLD_TOKEN}
    return render(request, "errors/csrf.html", context, status=403)


def _cause_of(reason: str) -> _Cause:
    """Return the cause of a failed check. Django's reasons differ only in their text."""
    if reason == csrf.REASON_CSRF_TOKEN_MISSING:
        return _NO_TOKEN
    if reason == csrf.REASON_NO_CSRF_COOKIE:
        return _NO_COOKIE
    if reason.startswith(("Origin checking failed", "Referer checking failed")):
        return _OTHER_SITE
    return _OLD_TOKEN
