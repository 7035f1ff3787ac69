"""Middleware for request IDs, caching, sign-in, preferences and errors."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.contrib.auth.middleware import LoginRequiredMiddleware as DjangoLoginRequiredMiddleware
from django.contrib.auth.middleware import get_user
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import BadInput, Refused
from core.web.parsers import require_usable
from core.web.storable_text import MOST_KEY, has_control_character, why_unreadable, why_unusable
from review.services import exposure
from scriptsmith_site import logs
from scriptsmith_site.people.preferences.session import preferences_of
from scriptsmith_site.people.second_factor.services import SecondFactorMissing, is_missing
from scriptsmith_site.people.sign_in.sessions import note_seen
from scriptsmith_site.web import errors

GetResponse = Callable[[HttpRequest], HttpResponse]
View = Callable[..., HttpResponseBase]
Args = tuple[object, ...]
Kwargs = dict[str, object]

_API = "/api/"
_PAGE_METHODS = ("GET", "HEAD", "POST")
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


class RequestIdMiddleware:
    """Middleware that gives each request an ID for the response, the logs and the audit log.

    A well-formed ID from the client is kept.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        offered = request.META.get("HTTP_X_REQUEST_ID", "")
        name = offered if _SANE_ID.fullmatch(offered) else secrets.token_hex(8)
        # The audit log reads this header.
        request.META["HTTP_X_CORRELATION_ID"] = name
        token = logs.request_id.set(name)
        try:
            response = self.get_response(request)
        finally:
            logs.request_id.reset(token)
        response["X-Request-ID"] = name
        return response


class NoStoreMiddleware:
    """Middleware that forbids caching, so that the Back button on a shared machine shows no pages to the next user.

    Responses marked as public can be cached. Static files do not pass through this middleware.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if "public" not in response.get("Cache-Control", ""):
            response["Cache-Control"] = "no-store, private"
        return response


class MalformedRequestMiddleware:
    """Middleware that rejects malformed requests before any view or API handler runs.

    It checks for invalid characters and escapes, keys beyond the database's range, and unsupported methods. The API's
    parsers check the bodies of API requests.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._refuse(request) or self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: Args, kwargs: Kwargs
    ) -> HttpResponse | None:
        """Check keys and form fields. Raises Http404 for a key beyond bigint, and Django's own errors."""
        if any(isinstance(value, int) and value > MOST_KEY for value in kwargs.values()):
            raise Http404
        if request.method == "POST" and not request.path_info.startswith(_API):
            try:
                _require_usable_form(request)
            except BadInput as refusal:
                return errors.show_refusal(request, refusal)
        return None

    def _refuse(self, request: HttpRequest) -> HttpResponse | None:
        # REST framework checks the methods of its own URLs.
        if request.method not in _PAGE_METHODS and not request.path_info.startswith(_API):
            return errors.show_method_not_allowed(request, ", ".join(_PAGE_METHODS))
        if why_unusable(request.path_info):
            return errors.page_not_found(request, Http404())
        if any(
            has_control_character(value)
            for name, value in request.META.items()
            if name.startswith("HTTP_") or name == "CONTENT_TYPE"
        ):
            return errors.show_error(
                request, errors.BAD_REQUEST, detail=_("A header is malformed.")
            )
        charset = (request.content_params or {}).get("charset", "utf-8")
        if charset.lower() not in ("utf-8", "utf8"):
            return errors.show_error(
                request, errors.UNSUPPORTED, detail=_("Only UTF-8 is supported.")
            )
        if problem := why_unreadable(request.META.get("QUERY_STRING", "")):
            return _refuse_address(request, problem)
        return None


def _refuse_address(request: HttpRequest, problem: str) -> HttpResponse:
    pairs = (pair.split("=", 1) for pair in request.META["QUERY_STRING"].split("&"))
    name = next((one[0] for one in pairs if why_unreadable("=".join(one))), "")
    return errors.show_refusal(
        request, BadInput(problem, field="" if why_unreadable(name) else name)
    )


def _require_usable_form(request: HttpRequest) -> None:
    """Raise BadInput if a field, a file name or its encoding is malformed."""
    problem = ""
    if request.content_type == "application/x-www-form-urlencoded":
        problem = why_unreadable(request.body.decode("ascii", "replace"))
        # If the decoded text is valid, all fields are valid.
        if not problem:
            return
    for name, values in request.POST.lists():
        require_usable([name, *values], at=name)
    for name, files in request.FILES.lists():
        require_usable([name, *(file.name or "" for file in files)], at=name)
    if problem:
        raise BadInput(problem)


class LoginRequiredMiddleware(DjangoLoginRequiredMiddleware):
    """Middleware that requires sign-in for all pages, except for views marked with `login_not_required`.

    Links redirect to the sign-in page. Submitted forms, htmx requests and API requests keep their input.
    """

    def process_view(
        self, request: HttpRequest, view_func: View, view_args: Args, view_kwargs: Kwargs
    ) -> HttpResponseBase | None:
        to_sign_in = super().process_view(request, view_func, view_args, view_kwargs)
        by_script = errors.is_from_script(request) or errors.wants_json(request)
        if to_sign_in and (by_script or request.method == "POST"):
            return errors.show_expired_session(request)
        return to_sign_in


class PreferencesMiddleware:
    """Middleware that applies the user's time zone, theme and keyboard shortcuts."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(timezone.get_default_timezone()):
            return self.get_response(request)

    def process_view(self, request: HttpRequest, view: View, args: Args, kwargs: Kwargs) -> None:
        # Pages without sign-in must work even if the database is unavailable.
        if getattr(view, "login_required", True) and request.user.is_authenticated:
            # Replace the lazy user object, which would be evaluated again for each attribute.
            request.user = get_user(request)
            preferences = preferences_of(request)
            request.theme = preferences.theme  # type: ignore[attr-defined]
            request.changed_keys = preferences.keys  # type: ignore[attr-defined]
            timezone.activate(ZoneInfo(preferences.time_zone or "UTC"))
            note_seen(request.session)


class SecondFactorMiddleware:
    """Middleware that redirects users without a required second factor to its setup, and blocks all other pages."""

    _OPEN = frozenset(
        {
            "confirm",
            "logout",
            "second-factor",
            "second-factor-app",
            "second-factor-passkey",
            "settings-password",
        }
    )

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: Args, kwargs: Kwargs
    ) -> HttpResponse | None:
        """Return an error or a redirect if a second factor is missing. API tokens are checked when they are read."""
        is_api = request.path_info.startswith(_API)
        if not (is_api or getattr(view, "login_required", True)) or not isinstance(
            request.user, User
        ):
            return None
        if not is_missing(request.user) or self._is_open(request):
            return None
        if is_api or errors.is_from_script(request):
            return errors.show_refusal(request, SecondFactorMissing())
        return redirect("second-factor")

    def _is_open(self, request: HttpRequest) -> bool:
        match = request.resolver_match
        return match is not None and match.view_name in self._OPEN


class ExposureMiddleware:
    """Middleware that records that a user is shown a verdict, before the response is sent.

    If recording fails, the response is not sent.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with exposure.watching() as shown:
            response = self.get_response(request)
            if shown.runs or shown.campaigns:
                match = request.resolver_match
                exposure.write(shown, where=match.view_name if match else request.path_info)
        return response


class RefusalMiddleware:
    """Middleware that converts unhandled refusals and unsupported methods to a page, or to a fragment for htmx."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        if answer.status_code == 405 and not answer.content:
            return errors.show_method_not_allowed(request, answer.get("Allow", ""))
        if answer.status_code == 405 and answer.has_header("Allow"):
            # REST framework always offers OPTIONS, even if it has nothing to describe.
            answer["Allow"] = answer["Allow"].removesuffix(", OPTIONS")
        return answer

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return errors.show_refusal(request, exception) if isinstance(exception, Refused) else None
